import type { ModelsView } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { Suspense, lazy, useEffect, useRef, useState } from 'react';
import { serversQuery } from '../../api/servers.ts';
import { useStore } from '../../app/store.ts';
import { strings } from '../../strings/strings.ts';
import { Icon } from '../../ui/Icon.tsx';
import styles from './Pickers.module.css';
import {
  chooseModel,
  excludedServersStore,
  isSameModel,
  listModels,
  modelChoiceStore,
  selectRequestedServers,
} from './answerOptions.ts';

/** Choice of the model. Only a label if there is one model. */
export function ModelPicker({ models, userId }: { readonly models: ModelsView; readonly userId: string }) {
  const words = strings.chat.composer;
  const store = modelChoiceStore(userId);
  const current = chooseModel(models, useStore(store));
  const choices = listModels(models);
  if (!current || choices.length === 1)
    return (
      <span className={styles['only']} title={words.model}>
        {current?.model}
      </span>
    );
  const hasSeveralEndpoints = models.endpoints.length > 1;
  return (
    <select
      className={styles['picker']}
      aria-label={words.model}
      value={choices.findIndex((choice) => isSameModel(current, choice))}
      onChange={({ target }) => store.set(choices[Number(target.value)] ?? null)}
    >
      {hasSeveralEndpoints
        ? models.endpoints.map(({ name }) => (
            <optgroup key={name} label={name}>
              {choices.map(
                (choice, index) =>
                  choice.endpoint === name && <Option key={index} {...{ index, ...choice }} />,
              )}
            </optgroup>
          ))
        : choices.map((choice, index) => <Option key={index} {...{ index, ...choice }} />)}
    </select>
  );
}

function Option({ index, model }: { readonly index: number; readonly model: string }) {
  return <option value={index}>{model}</option>;
}

const ServerChoices = lazy(() => import('./ServerChoices.tsx').then((m) => ({ default: m.ServerChoices })));

/** Choice of the servers whose tools the model can use. */
export function ServerChooser({ userId }: { readonly userId: string }) {
  const words = strings.chat.chooser;
  const [isOpen, setOpen] = useState(false);
  const boxRef = useRef<HTMLDivElement>(null);
  const openerRef = useRef<HTMLButtonElement>(null);
  const excluded = useStore(excludedServersStore(userId));
  const servers = useQuery({
    ...serversQuery,
    enabled: isOpen || excluded.length > 0,
    refetchInterval: false,
  });

  useEffect(() => {
    if (!isOpen) return undefined;
    const handlePointerDown = ({ target }: PointerEvent) => {
      if (target instanceof Node && !boxRef.current?.contains(target)) setOpen(false);
    };
    addEventListener('pointerdown', handlePointerDown);
    return () => removeEventListener('pointerdown', handlePointerDown);
  }, [isOpen]);

  function close(): void {
    setOpen(false);
    openerRef.current?.focus();
  }

  return (
    <div
      ref={boxRef}
      className={styles['chooser']}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return;
        // Escape closes only this menu.
        event.stopPropagation();
        close();
      }}
      onBlur={({ relatedTarget }) => {
        if (relatedTarget && !boxRef.current?.contains(relatedTarget)) setOpen(false);
      }}
    >
      <button
        ref={openerRef}
        type="button"
        className={styles['opener']}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="tools" size={16} /> {summaryText()}
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

  function summaryText(): string {
    if (excluded.length === 0 || !servers.data) return words.allServers;
    const names = Object.keys(servers.data);
    const included = selectRequestedServers(names, excluded);
    if (!included) return words.allServers;
    return included.length === 0 ? words.noTools : words.someServers(included.length, names.length);
  }
}
