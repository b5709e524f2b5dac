import type { ServerStatus, ServersView, ToolsView } from '@behalf/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useMemo, useRef } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { allToolsQuery, isForbidden, serversQuery, statusesQuery, useStatusRefetch } from '../api/servers.ts';
import { usePermission, useUser } from '../api/user.ts';
import { useRolePermissionLossToast } from '../hooks/usePermissionLossToast.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { SelectField, TextField } from '../ui/Field.tsx';
import { Icon } from '../ui/Icon.tsx';
import { usePagedItems } from '../ui/LongList.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { showToast } from '../ui/Toasts.tsx';
import styles from './ServersPage.module.css';
import { AddServer } from './add/AddServer.tsx';
import { ServerCard } from './list/ServerCard.tsx';
import {
  type ListedServer,
  filterServers,
  parseServerFilter,
  serverFilters,
  sortServers,
} from './state/filterServers.ts';
import { serverOrigin, toServerState } from './state/serverState.ts';

/** The servers that the user may use or manage. The URL contains the search and the open dialog. */
export function ServersPage() {
  const words = strings.servers;
  const canCreate = usePermission('CREATE');
  const [params, setParams] = useSearchParams();
  const [, navigate] = useLocation();
  const { listed, error, refetch } = useListedServers();
  useRolePermissionLossToast();

  function setSearchParams(changes: Readonly<Record<string, string>>): void {
    const nextParams = new URLSearchParams(params);
    for (const [name, value] of Object.entries(changes)) {
      if (value === '') nextParams.delete(name);
      else nextParams.set(name, value);
    }
    setParams(nextParams, { replace: true });
  }

  const add = canCreate && (
    <Button variant="primary" icon={<Icon name="plus" />} onClick={() => setSearchParams({ add: '1' })}>
      {words.add}
    </Button>
  );
  return (
    <Page title={words.title} lead={words.lead} actions={add}>
      {error !== null && !listed && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {error === null && !listed && <Skeleton lines={8} />}
      {listed?.length === 0 && (
        <EmptyState icon="server" title={words.noneTitle} actions={add}>
          {canCreate ? words.emptyForCreators : words.emptyForUsers}
        </EmptyState>
      )}
      {listed && listed.length > 0 && (
        <FilteredList listed={listed} params={params} onChange={setSearchParams} />
      )}
      {params.has('add') && (
        <AddServer
          isManual={params.get('add') === 'form'}
          canCreate={canCreate}
          onClose={() => setSearchParams({ add: '' })}
          onSaved={({ serverName, title = serverName, draft }) => {
            showToast('success', words.created(title), draft === undefined ? '' : words.addDialog[draft]);
            navigate(`/servers/${encodeURIComponent(serverName)}`);
          }}
        />
      )}
    </Page>
  );
}

const PAGE_SIZE = 50;

function FilteredList({
  listed,
  params,
  onChange,
}: {
  readonly listed: readonly ListedServer[];
  readonly params: URLSearchParams;
  readonly onChange: (changes: Readonly<Record<string, string>>) => void;
}) {
  const words = strings.servers;
  const search = params.get('q') ?? '';
  const filter = parseServerFilter(params.get('show'));
  const found = filterServers(listed, filter, useDeferredValue(search));
  const { shown, nextCount, showMore } = usePagedItems(found, PAGE_SIZE);

  return (
    <>
      <div className={styles['filters']} role="search">
        <TextField
          type="search"
          label={words.search}
          placeholder={words.searchPlaceholder}
          value={search}
          onChange={(event) => onChange({ q: event.target.value })}
        />
        <SelectField
          label={words.filterLabel}
          value={filter}
          onChange={({ target }) => onChange({ show: target.value === 'all' ? '' : target.value })}
        >
          {serverFilters.map((value) => (
            <option key={value} value={value}>
              {words.filters[value]}
            </option>
          ))}
        </SelectField>
      </div>
      <p className="visually-hidden" role="status">
        {words.found(found.length)}
      </p>
      {found.length === 0 ? (
        <EmptyState
          icon="search"
          title={words.noMatchTitle}
          actions={<Button onClick={() => onChange({ q: '', filter: '' })}>{words.showAll}</Button>}
        >
          {words.noMatchText}
        </EmptyState>
      ) : (
        <ul className={styles['list']}>
          {shown.map((server) => (
            <ServerCard key={server.name} server={server} />
          ))}
        </ul>
      )}
      {nextCount > 0 && <Button onClick={showMore}>{words.showMore(nextCount)}</Button>}
    </>
  );
}

type Statuses = Readonly<Record<string, ServerStatus>>;
type Tools = ToolsView['servers'];

/** All servers with their state, as far as it is known. States load after the names. */
export function useListedServers() {
  const servers = useQuery(serversQuery);
  const statuses = useQuery(statusesQuery);
  const tools = useQuery(allToolsQuery);
  const userId = useUser()?.id;
  useToolsRefetch(statuses.data, tools.data);
  useStatusRefetch(tools.dataUpdatedAt, statuses.refetch);
  const listed = useMemo(
    () => servers.data && toListedServers(servers.data, statuses.data, tools.data, userId),
    [servers.data, statuses.data, tools.data, userId],
  );
  return {
    listed: isForbidden(servers.error) ? undefined : listed,
    error: servers.error,
    refetch: servers.refetch,
  };
}

function toListedServers(
  servers: ServersView,
  statuses: Statuses | undefined,
  tools: Tools | undefined,
  userId: string | undefined,
): ListedServer[] {
  const listedServers = Object.entries(servers).map(([name, view]): ListedServer => {
    const listed = tools?.[name];
    const status = statuses && (statuses[name] ?? null);
    const state = toServerState(view, status, listed);
    const isKnown = listed && (listed.state === 'connected' || listed.tools.length > 0);
    return {
      name,
      view,
      state,
      origin: serverOrigin(view, userId, state.kind),
      tools: isKnown ? listed.tools.length : undefined,
    };
  });
  return sortServers(listedServers);
}

/** Requests the tools again after a server without listed tools has connected. */
function useToolsRefetch(statuses: Statuses | undefined, tools: Tools | undefined): void {
  const queryClient = useQueryClient();
  const previous = useRef<Statuses | undefined>(undefined);
  useEffect(() => {
    if (!statuses || !tools || previous.current === statuses) return;
    const previousStatuses = previous.current;
    previous.current = statuses;
    const hasNewConnection = Object.entries(statuses).some(
      ([name, { connectionState }]) =>
        connectionState === 'connected' &&
        previousStatuses?.[name]?.connectionState !== 'connected' &&
        tools[name]?.state !== 'connected',
    );
    if (previousStatuses && hasNewConnection)
      void queryClient.invalidateQueries({ queryKey: allToolsQuery.queryKey });
  }, [queryClient, statuses, tools]);
}
