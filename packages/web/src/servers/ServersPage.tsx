import { useDeferredValue } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { usePermission } from '../api/user.ts';
import { useRolePermissionLossToast } from '../hooks/usePermissionLossToast.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { SelectField, TextField } from '../ui/Field.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { showToast } from '../ui/toasts.ts';
import { AddServer } from './add/AddServer.tsx';
import { ServerCard } from './list/ServerCard.tsx';
import { useListedServers } from './list/useListedServers.ts';
import styles from './ServersPage.module.css';
import { filterServers, parseServerFilter, serverFilters, type ListedServer } from './state/filterServers.ts';
import { usePagedItems } from './usePagedItems.ts';

/** The servers one may use or look after. What is searched for stands in the address, and so does the open dialog. */
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
