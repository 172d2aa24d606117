import { Component, type ReactNode } from "react";
import { Notice } from "./notice.tsx";

/** A mistake in one view takes neither the others nor the way to them along. */
export class Mishap extends Component<{ readonly children: ReactNode }, { readonly message: string | null }> {
  override state = { message: null };

  static getDerivedStateFromError(error: unknown): { readonly message: string } {
    return { message: error instanceof Error ? error.message : String(error) };
  }

  override render(): ReactNode {
    const { message } = this.state;
    if (message === null) return this.props.children;
    return (
      <Notice
        tone="bad"
        action={
          <button type="button" className="tiny" onClick={() => this.setState({ message: null })}>
            Try again
          </button>
        }
      >
        This view cannot be shown: {message} The service itself is not harmed. Go to another view, or load the
        page again.
      </Notice>
    );
  }
}
