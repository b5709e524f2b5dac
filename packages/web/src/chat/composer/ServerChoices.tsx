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
import { serverStateTones } from '../../ui/serverStateTones.ts';
import { leftOutServers } from './choices.ts';
import { withServer } from './chosenServers.ts';
import styles from './Pickers.module.css';

/** All servers with their state, each to be ticked. */
export function ServerChoices({ userId }: { readonly userId: string }) {
  const words = strings.chat.chooser;
  const store = leftOutServers(userId);
  const leftOut = useStore(store);
  const servers = useQuery({ ...serversQuery, refetchInterval: false });
  const tools = useQuery(allToolsQuery);
  const box = useRef<HTMLDivElement>(null);
  const isLoaded = servers.data !== undefined;
  useEffect(() => {
    if (isLoaded) box.current?.querySelector('input')?.focus();
  }, [isLoaded]);
  if (servers.error) return <ErrorNotice error={servers.error} onRetry={() => void servers.refetch()} />;
  if (!servers.data) return <Skeleton lines={4} />;
  const names = Object.keys(servers.data);
  if (names.length === 0)
    return (
      <>
        <p>{words.empty}</p>
        <Link href="/servers">{words.toServers}</Link>
      </>
    );
  return (
    <div ref={box}>
      <div className={styles['heading']}>
        <h2>{words.title}</h2>
        <div>
          <Button size="small" variant="quiet" onClick={() => store.set([])}>
            {words.chooseAll}
          </Button>
          <Button size="small" variant="quiet" onClick={() => store.set(names)}>
            {words.chooseNone}
          </Button>
        </div>
      </div>
      <p className={styles['hint']}>{words.hint}</p>
      {Object.entries(servers.data).map(([name, { title }]) => (
        <ServerChoice
          key={name}
          title={title ?? name}
          listed={tools.data?.[name]}
          isChosen={!leftOut.includes(name)}
          onChange={(isChosen) => store.set(withServer(store.get(), name, isChosen))}
        />
      ))}
    </div>
  );
}

function ServerChoice({
  title,
  listed,
  isChosen,
  onChange,
}: {
  readonly title: string;
  /** Undefined until it is known. */
  readonly listed: ToolsView['servers'][string] | undefined;
  readonly isChosen: boolean;
  readonly onChange: (isChosen: boolean) => void;
}) {
  const words = strings.chat.chooser;
  const id = useId();
  return (
    <div className={styles['entry']}>
      <input
        id={id}
        type="checkbox"
        checked={isChosen}
        onChange={({ target }) => onChange(target.checked)}
        aria-describedby={listed && `${id}-state`}
      />
      <div className={styles['about']}>
        <label htmlFor={id}>{title}</label>
        {listed && (
          <span id={`${id}-state`} className={styles['tools']}>
            {listed.state === 'connected' ? (
              words.tools(listed.tools.length)
            ) : (
              <Badge tone={serverStateTones[listed.state]}>{words.states[listed.state]}</Badge>
            )}
          </span>
        )}
      </div>
    </div>
  );
}
