import { Component, type ReactNode } from "react";

/**
 * A short code for an error in the app: the built file, line and column. It locates the error exactly and contains no user
 * data, which an error's message might.
 */
export function faultPlace(fault: unknown): string {
  if (!(fault instanceof Error)) return "unknown";
  const [, file, line, column] = /([\w-]+)[.](?:js|tsx?)[^\s:]*:(\d+):(\d+)/.exec(fault.stack ?? "") ?? [];
  return file ? `${file}-${line}-${column}` : fault.name;
}

interface ErrorBoundaryProps {
  /** Shown instead of the children; `retry` mounts the children again. */
  fallback: (fault: { place: string; retry: () => void }) => ReactNode;
  /** `attempt` is the number of retries. */
  children: (attempt: number) => ReactNode;
}

/** After an error in the children, shows a fallback from which the user can retry. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { place: string | null; attempt: number }> {
  override state = { place: null, attempt: 0 };

  static getDerivedStateFromError(fault: unknown) {
    return { place: faultPlace(fault) };
  }

  override render(): ReactNode {
    const { place, attempt } = this.state;
    if (place === null) return this.props.children(attempt);
    return this.props.fallback({ place, retry: () => this.setState({ place: null, attempt: attempt + 1 }) });
  }
}
