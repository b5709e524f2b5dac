import type { ToolsView } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useRef } from 'react';
import { Link } from 'wouter';
import { allToolsQuery, serversQuery } from '../../api/servers.ts';
import { useStore } from '../../app/store.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { serverStateTones } from '../../ui/stateTones.ts';
import { excludedServersStore, setServerIncluded } from './answerOptions.ts';
import styles from './Pickers.module.css';

/** Checkboxes of all servers with their state. */
export function ServerChoices({ userId }: { readonly userId: string }) {
  const words = strings.chat.chooser;
  const excludedStore = excludedServersStore(userId);
  const excluded = useStore(excludedStore);
  const servers = useQuery({ ...serversQuery, refetchInterval: false });
  const tools = useQuery(allToolsQuery);
  const boxRef = useRef<HTMLDivElement>(null);
  const isLoaded = servers.data !== undefined;
  useEffect(() => {
    if (isLoaded) boxRef.current?.querySelector('input')?.focus();
  }, [isLoaded]);
  if (servers.error) return <ErrorNotice error={servers.error} onRetry={() => void servers.refetch()} />;
  if (!servers.data) return <Skeleton lines={4} />;
  const names = Object.keys(servers.data);
  if (names.length === 0)
    return (
      <>
        <p>{words.noServers}</p>
        <Link href="/servers">{words.goToServers}</Link>
      </>
    );
  return (
    <div ref={boxRef}>
      <div className={styles['heading']}>
        <h2>{words.title}</h2>
        <div>
          <Button size="small" variant="quiet" onClick={() => excludedStore.set([])}>
            {words.selectAll}
          </Button>
          <Button size="small" variant="quiet" onClick={() => excludedStore.set(names)}>
            {words.selectNone}
          </Button>
        </div>
      </div>
      <p className={styles['hint']}>{words.hint}</p>
      {Object.entries(servers.data).map(([name, { title }]) => (
        <ServerChoice
          key={name}
          title={title ?? name}
          toolList={tools.data?.[name]}
          isIncluded={!excluded.includes(name)}
          onChange={(isIncluded) =>
            excludedStore.set(setServerIncluded(excludedStore.get(), name, isIncluded))
          }
        />
      ))}
    </div>
  );
}

function ServerChoice({
  title,
  toolList,
  isIncluded,
  onChange,
}: {
  readonly title: string;
  /** Undefined while loading. */
  readonly toolList: ToolsView['servers'][string] | undefined;
  readonly isIncluded: boolean;
  readonly onChange: (isIncluded: boolean) => void;
}) {
  const words = strings.chat.chooser;
  const id = useId();
  return (
    <div className={styles['entry']}>
      <input
        id={id}
        type="checkbox"
        checked={isIncluded}
        onChange={({ target }) => onChange(target.checked)}
        aria-describedby={toolList && `${id}-state`}
      />
      <div className={styles['about']}>
        <label htmlFor={id}>{title}</label>
        {toolList && (
          <span id={`${id}-state`} className={styles['tools']}>
            {toolList.state === 'connected' ? (
              words.toolCount(toolList.tools.length)
            ) : (
              <Badge tone={serverStateTones[toolList.state]}>{words.states[toolList.state]}</Badge>
            )}
          </span>
        )}
      </div>
    </div>
  );
}
