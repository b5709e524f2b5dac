import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { serversQuery } from '../../api/servers.ts';
import { useStore } from '../../app/store.ts';
import { strings } from '../../strings/strings.ts';
import { Icon } from '../../ui/Icon.tsx';
import { leftOutServers } from './choices.ts';
import { serversToSend } from './chosenServers.ts';
import styles from './Pickers.module.css';

const ServerChoices = lazy(() => import('./ServerChoices.tsx').then((m) => ({ default: m.ServerChoices })));

/** Which servers' tools the model sees: how many, and when it is opened, which. */
export function ServerChooser({ userId }: { readonly userId: string }) {
  const words = strings.chat.chooser;
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const leftOut = useStore(leftOutServers(userId));
  const servers = useQuery({
    ...serversQuery,
    enabled: isOpen || leftOut.length > 0,
    refetchInterval: false,
  });

  useEffect(() => {
    if (!isOpen) return undefined;
    const onPress = ({ target }: PointerEvent) => {
      if (target instanceof Node && !box.current?.contains(target)) setOpen(false);
    };
    addEventListener('pointerdown', onPress);
    return () => removeEventListener('pointerdown', onPress);
  }, [isOpen]);

  function close(): void {
    setOpen(false);
    opener.current?.focus();
  }

  return (
    <div
      ref={box}
      className={styles['chooser']}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return;
        // It closes this and nothing else.
        event.stopPropagation();
        close();
      }}
      onBlur={({ relatedTarget }) => {
        if (relatedTarget && !box.current?.contains(relatedTarget)) setOpen(false);
      }}
    >
      <button
        ref={opener}
        type="button"
        className={styles['opener']}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="tools" size={16} /> {summary()}
      </button>
      {isOpen && (
        <div className={styles['popover']} role="dialog" aria-label={words.title}>
          <Suspense>
            <ServerChoices userId={userId} />
          </Suspense>
        </div>
      )}
    </div>
  );

  function summary(): string {
    if (leftOut.length === 0 || !servers.data) return words.all;
    const names = Object.keys(servers.data);
    const chosen = serversToSend(names, leftOut);
    if (!chosen) return words.all;
    return chosen.length === 0 ? words.none : words.some(chosen.length, names.length);
  }
}
