import { Component, type ReactNode } from "react";
import { LanguageContext } from "../words/word-table.ts";
import { Button } from "./button.tsx";
import { uiWords } from "./words.ts";

/** After an error in the children: what happened, and a way on. Another `page` mounts the children again. */
export class ErrorBoundary extends Component<{ page: string; children: ReactNode }, { fault: string | null }> {
  static override contextType = LanguageContext;
  declare context: React.ContextType<typeof LanguageContext>;
  override state = { fault: null };

  static getDerivedStateFromError(fault: unknown) {
    return { fault: fault instanceof Error ? `${fault.name}: ${fault.message}`.slice(0, 300) : "unknown" };
  }

  override componentDidUpdate({ page }: { page: string }): void {
    if (page !== this.props.page && this.state.fault !== null) this.setState({ fault: null });
  }

  override render(): ReactNode {
    const { fault } = this.state;
    if (fault === null) return this.props.children;
    const words = uiWords[this.context];
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
