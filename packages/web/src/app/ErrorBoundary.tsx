import { Component, type ReactNode } from 'react';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';

interface Props {
  readonly path: string;
  readonly children: ReactNode;
}

/** A page that fails to render says so, and the rest of the window goes on. Under another path it is tried again. */
export class ErrorBoundary extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override componentDidUpdate({ path }: Props): void {
    if (this.state.hasFailed && path !== this.props.path) this.setState({ hasFailed: false });
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <EmptyState
        icon="error"
        title={strings.common.crashedTitle}
        actions={<Button onClick={() => location.reload()}>{strings.common.reload}</Button>}
      >
        {strings.common.crashedText}
      </EmptyState>
    );
  }
}
