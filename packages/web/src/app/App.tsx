import { QueryClientProvider } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { ChatPage } from '../chat/ChatPage.tsx';
import { PageSkeleton } from '../ui/Page.tsx';
import { Toasts } from '../ui/Toasts.tsx';
import { ErrorBoundary } from './ErrorBoundary.tsx';
import { NotFound } from './NotFound.tsx';
import {
  AdminPage,
  BlockPage,
  BlocksPage,
  EditBlockPage,
  NewBlockPage,
  ServerPage,
  ServersPage,
  SetEditPage,
  SetPage,
  SetsPage,
  SettingsPage,
  ToolsPage,
} from './pages.ts';
import { queryClient } from './queryClient.ts';
import { SessionEndedDialog } from './SessionEndedDialog.tsx';
import { Shell } from './Shell.tsx';

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

/** Which page stands at which address. The server knows the same list, so that every address can be opened anew. */
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

/** A segment as it was before it stood in an address; one that cannot be read is taken as it is. */
function decodeSegment(segment: string | undefined): string | undefined {
  if (segment === undefined) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
