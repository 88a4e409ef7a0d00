import { Component, type ReactNode } from "react";
import { faultPlace } from "./fault-place.ts";

interface ErrorBoundaryProps {
  /** What stands there instead; `retry` shows the children again, made anew. */
  fallback: (fault: { place: string; retry: () => void }) => ReactNode;
  /** `attempt` counts the retries. */
  children: (attempt: number) => ReactNode;
}

/** A fault in what it shows takes neither the page away nor the way to try again. */
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
