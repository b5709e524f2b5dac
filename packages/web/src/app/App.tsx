import { QueryClientProvider } from '@tanstack/react-query';
import { Component, type ReactNode, Suspense, lazy } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { ChatPage } from '../chat/ChatPage.tsx';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { NotFound, PageSkeleton } from '../ui/Page.tsx';
import { Toasts } from '../ui/Toasts.tsx';
import { Shell } from './Shell.tsx';
import { SessionEndedDialog } from './StatusBanners.tsx';
import { queryClient } from './queryClient.ts';

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Shell>
        <Pages />
      </Shell>
      <SessionEndedDialog />
      <Toasts />
    </QueryClientProvider>
  );
}

/** Routes of the app. The gateway serves the same list of paths, so that every address survives a reload. */
function Pages() {
  const [path] = useLocation();
  const [, area = ''] = path.split('/');
  return (
    <ErrorBoundary key={area} path={path}>
      <Suspense fallback={<PageSkeleton lines={6} />}>
        <Switch>
          <Route path="/">
            <Redirect to="/chat" replace />
          </Route>
          <Route path="/chat/:id?">{({ id }) => <ChatPage id={id} />}</Route>
          <Route path="/tools/:server?/:tool?">
            {({ server, tool }) => <ToolsPage server={decodeSegment(server)} tool={decodeSegment(tool)} />}
          </Route>
          <Route path="/blocks">
            <BlocksPage />
          </Route>
          <Route path="/blocks/new">
            <NewBlockPage />
          </Route>
          <Route path="/blocks/:id">{({ id }) => <BlockPage id={decodeSegment(id) ?? ''} />}</Route>
          <Route path="/blocks/:id/edit">{({ id }) => <EditBlockPage id={decodeSegment(id) ?? ''} />}</Route>
          <Route path="/sets">
            <SetsPage />
          </Route>
          <Route path="/sets/new">
            <SetEditPage />
          </Route>
          <Route path="/sets/:id">{({ id }) => <SetPage id={decodeSegment(id) ?? ''} />}</Route>
          <Route path="/sets/:id/edit">{({ id }) => <SetEditPage id={decodeSegment(id) ?? ''} />}</Route>
          <Route path="/servers">
            <ServersPage />
          </Route>
          <Route path="/servers/:name">{({ name }) => <ServerPage name={decodeSegment(name) ?? ''} />}</Route>
          <Route path="/settings">
            <SettingsPage />
          </Route>
          <Route path="/admin/:page?">{({ page }) => <AdminPage page={page} />}</Route>
          <Route>
            <NotFound />
          </Route>
        </Switch>
      </Suspense>
    </ErrorBoundary>
  );
}

/** Decodes a path segment. Returns a malformed segment unchanged. */
function decodeSegment(segment: string | undefined): string | undefined {
  if (segment === undefined) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Lazy pages. The chat is part of the first load. */
const ToolsPage = lazy(() => import('../tools/ToolsPage.tsx').then((m) => ({ default: m.ToolsPage })));
const ServersPage = lazy(() =>
  import('../servers/ServersPage.tsx').then((m) => ({ default: m.ServersPage })),
);
const ServerPage = lazy(() => import('../servers/ServerPage.tsx').then((m) => ({ default: m.ServerPage })));
const BlocksPage = lazy(() => import('../blocks/BlocksPage.tsx').then((m) => ({ default: m.BlocksPage })));
const BlockPage = lazy(() => import('../blocks/BlockPage.tsx').then((m) => ({ default: m.BlockPage })));
const NewBlockPage = lazy(() =>
  import('../blocks/edit/NewBlockPage.tsx').then((m) => ({ default: m.NewBlockPage })),
);
const EditBlockPage = lazy(() =>
  import('../blocks/edit/EditBlockPage.tsx').then((m) => ({ default: m.EditBlockPage })),
);
const SetsPage = lazy(() => import('../sets/SetsPage.tsx').then((m) => ({ default: m.SetsPage })));
const SetPage = lazy(() => import('../sets/SetPage.tsx').then((m) => ({ default: m.SetPage })));
const SetEditPage = lazy(() =>
  import('../sets/edit/SetEditPage.tsx').then((m) => ({ default: m.SetEditPage })),
);
const SettingsPage = lazy(() =>
  import('../settings/SettingsPage.tsx').then((m) => ({ default: m.SettingsPage })),
);
const AdminPage = lazy(() => import('../admin/AdminPage.tsx').then((m) => ({ default: m.AdminPage })));

interface Props {
  readonly path: string;
  readonly children: ReactNode;
}

/** Shows an error if a page fails to render. The shell stays usable. A new path renders the page again. */
class ErrorBoundary extends Component<Props, { hasFailed: boolean }> {
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
