import { Component, type ReactNode } from "react";
import { CallError } from "../operator/call-operator.ts";
import { isReachable } from "../operator/reach-server.ts";
import { LanguageContext } from "../words/word-table.ts";
import { Button } from "./button.tsx";
import { uiWords } from "./words.ts";

interface ErrorBoundaryState {
  fault: string | null;
  /** The children's own code could not be loaded, since the server does not answer. */
  isUnreachable: boolean;
}

/** What browsers, and the build's own loader of styles, say of a file that is gone: that of a build before the last one. */
const missingFile = /dynamically imported module|module script failed|preload CSS/i;

/** After an error in the children: what happened, and a way on. Another `page` mounts the children again. */
export class ErrorBoundary extends Component<{ page: string; children: ReactNode }, ErrorBoundaryState> {
  static override contextType = LanguageContext;
  declare context: React.ContextType<typeof LanguageContext>;
  override state: ErrorBoundaryState = { fault: null, isUnreachable: false };

  static getDerivedStateFromError(fault: unknown): ErrorBoundaryState {
    return {
      fault: fault instanceof Error ? `${fault.name}: ${fault.message}`.slice(0, 300) : "unknown",
      isUnreachable: fault instanceof CallError && fault.code === "UNREACHABLE",
    };
  }

  override componentDidUpdate({ page }: { page: string }): void {
    if (page !== this.props.page && this.state.fault !== null) this.setState({ fault: null });
  }

  override render(): ReactNode {
    const { fault, isUnreachable } = this.state;
    if (fault === null) return this.props.children;
    const words = uiWords[this.context];
    const isFileMissing = missingFile.test(fault);
    if (isFileMissing && navigator.onLine) {
      return (
        <div className="empty" role="alert">
          <h1>{words.failed}</h1>
          <p className="secondary">{words.otherVersion}</p>
          <Button look="primary" onClick={() => location.reload()}>
            {words.reload}
          </Button>
        </div>
      );
    }
    if (isUnreachable || isFileMissing) {
      // The page is read anew only once there is one to read.
      const onRetry = () => void isReachable().then((isBack) => isBack && location.reload());
      return (
        <div className="empty" role="alert">
          <h1>{words.failed}</h1>
          <p className="secondary">{words.unreachable}</p>
          <Button look="primary" onClick={onRetry}>
            {words.retry}
          </Button>
        </div>
      );
    }
    return (
      <div className="empty" role="alert">
        <h1>{words.crashed}</h1>
        <p className="secondary">{words.crashedText}</p>
        <p>
          <code>{fault}</code>
        </p>
        <Button look="primary" onClick={() => this.setState({ fault: null })}>
          {words.retry}
        </Button>
      </div>
    );
  }
}
