import { useDeferredValue } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { usePermission } from '../api/user.ts';
import { useLostPermissions } from '../hooks/useLostBits.ts';
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
import { filterServers, readShow, shows, type ListedServer } from './state/filterServers.ts';
import { useFirst } from './useFirst.ts';

/** The servers one may use or look after. What is searched for stands in the address, and so does the open dialog. */
export function ServersPage() {
  const text = strings.servers;
  const mayCreate = usePermission('CREATE');
  const [params, setParams] = useSearchParams();
  const [, navigate] = useLocation();
  const { listed, error, refetch } = useListedServers();
  useLostPermissions();

  function set(changes: Readonly<Record<string, string>>): void {
    const next = new URLSearchParams(params);
    for (const [name, value] of Object.entries(changes)) {
      if (value === '') next.delete(name);
      else next.set(name, value);
    }
    setParams(next, { replace: true });
  }

  const add = mayCreate && (
    <Button look="primary" icon={<Icon name="plus" />} onClick={() => set({ add: '1' })}>
      {text.add}
    </Button>
  );
  return (
    <Page title={text.title} lead={text.lead} actions={add}>
      {error !== null && !listed && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {error === null && !listed && <Skeleton lines={8} />}
      {listed?.length === 0 && (
        <EmptyState icon="server" title={text.noneTitle} actions={add}>
          {mayCreate ? text.noneForMakers : text.noneForOthers}
        </EmptyState>
      )}
      {listed && listed.length > 0 && <FilteredList listed={listed} params={params} onSet={set} />}
      {params.has('add') && (
        <AddServer
          isByHand={params.get('add') === 'form'}
          mayCreate={mayCreate}
          onClose={() => set({ add: '' })}
          onSaved={({ serverName, title = serverName, draft }) => {
            showToast('success', text.created(title), draft === undefined ? '' : text.adding[draft]);
            navigate(`/servers/${encodeURIComponent(serverName)}`);
          }}
        />
      )}
    </Page>
  );
}

const STEP = 50;

function FilteredList({
  listed,
  params,
  onSet,
}: {
  readonly listed: readonly ListedServer[];
  readonly params: URLSearchParams;
  readonly onSet: (changes: Readonly<Record<string, string>>) => void;
}) {
  const text = strings.servers;
  const search = params.get('q') ?? '';
  const show = readShow(params.get('show'));
  const found = filterServers(listed, show, useDeferredValue(search));
  const { shown, next, showMore } = useFirst(found, STEP);

  return (
    <>
      <div className={styles['filters']} role="search">
        <TextField
          type="search"
          label={text.search}
          placeholder={text.searchPlaceholder}
          value={search}
          onChange={(event) => onSet({ q: event.target.value })}
        />
        <SelectField
          label={text.show}
          value={show}
          onChange={({ target }) => onSet({ show: target.value === 'all' ? '' : target.value })}
        >
          {shows.map((value) => (
            <option key={value} value={value}>
              {text.shows[value]}
            </option>
          ))}
        </SelectField>
      </div>
      <p className="visually-hidden" role="status">
        {text.found(found.length)}
      </p>
      {found.length === 0 ? (
        <EmptyState
          icon="search"
          title={text.noMatchTitle}
          actions={<Button onClick={() => onSet({ q: '', show: '' })}>{text.showAll}</Button>}
        >
          {text.noMatchText}
        </EmptyState>
      ) : (
        <ul className={styles['list']}>
          {shown.map((server) => (
            <ServerCard key={server.name} server={server} />
          ))}
        </ul>
      )}
      {next > 0 && <Button onClick={showMore}>{text.showMore(next)}</Button>}
    </>
  );
}
