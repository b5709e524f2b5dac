import type { SharedPrincipalView } from '@behalf/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { MIN_SEARCH_LENGTH, principalsQuery } from '../../api/sharing.ts';
import { strings } from '../../strings/strings.ts';
import { TextField } from '../../ui/Field.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { classNames } from '../../ui/classNames.ts';
import styles from './SharingDialog.module.css';
import { type PrincipalCandidate, toPrincipalOptions } from './shareDraft.ts';

/** A search for users, roles and groups that follows the ARIA combobox pattern. */
export function PrincipalSearch({
  isAlreadyAdded,
  canSharePublicly,
  onSelect,
}: {
  readonly isAlreadyAdded: (candidate: PrincipalCandidate) => boolean;
  readonly canSharePublicly: boolean;
  readonly onSelect: (candidate: PrincipalCandidate) => void;
}) {
  const words = strings.servers.sharing;
  const list = useId();
  const [input, setInput] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const query = useDebounced(input.trim());
  const { data, error, isFetching } = useQuery({
    ...principalsQuery(query),
    placeholderData: keepPreviousData,
  });
  const isSearching = query.length >= MIN_SEARCH_LENGTH && input.trim() !== '';
  const options =
    isSearching && data ? toPrincipalOptions(data, query, { isAlreadyAdded, canSharePublicly }) : [];
  const isShown = isOpen && options.length > 0;
  const activeIndex = Math.min(active, options.length - 1);

  function selectOption(index: number): void {
    const option = options[index];
    if (!option) return;
    onSelect(option);
    setInput('');
    setOpen(false);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && options.length > 0) {
      event.preventDefault();
      setOpen(true);
      setActive(isShown ? (activeIndex + step + options.length) % options.length : 0);
    } else if (event.key === 'Enter' && input !== '') {
      // Enter selects an option and does not submit the dialog.
      event.preventDefault();
      if (isShown) selectOption(activeIndex);
    } else if (event.key === 'Escape' && isShown) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    }
  }

  return (
    <div className={styles['search']}>
      <TextField
        label={words.search}
        hint={words.searchHint}
        role="combobox"
        autoComplete="off"
        spellCheck={false}
        maxLength={100}
        aria-expanded={isShown}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={isShown ? `${list}-${activeIndex}` : undefined}
        value={input}
        onChange={({ target }) => {
          setInput(target.value);
          setOpen(true);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setOpen(false)}
      />
      <ul id={list} role="listbox" aria-label={words.results} className={styles['options']} hidden={!isShown}>
        {options.map((option, index) => (
          <li
            key={`${option.type}:${option.id}`}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === activeIndex}
            className={classNames(styles['option'], index === activeIndex && styles['active'])}
            // Keeps the focus in the field; otherwise its blur event would close the list before the click.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => selectOption(index)}
          >
            <PrincipalName principal={option} note={option.note} />
          </li>
        ))}
      </ul>
      <p className="visually-hidden" role="status">
        {isSearching && (isFetching ? words.searching : words.foundCount(options.length))}
      </p>
      {error !== null && <ErrorNotice error={error} />}
    </div>
  );
}

/** Returns a value after it has not changed for a moment, to avoid a request per keystroke. */
function useDebounced<T>(value: T, delayMs = 250): T {
  const [debounced, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return debounced;
}

const principalIcons = { user: 'user', group: 'users', role: 'shield' } as const;

/** The name of a principal, with a detail that distinguishes it from others. */
export function PrincipalName({
  principal: { type, name, email },
  note,
  isCurrentUser = false,
}: {
  readonly principal: Pick<SharedPrincipalView, 'type' | 'name' | 'email'>;
  readonly note?: string | undefined;
  readonly isCurrentUser?: boolean;
}) {
  const words = strings.servers.sharing;
  return (
    <span className={styles['who']}>
      <Icon name={principalIcons[type]} />
      <span className={styles['names']}>
        <span>
          {name} {isCurrentUser && <span className={styles['muted']}>({words.you})</span>}
        </span>
        <span className={styles['muted']}>{email ?? note ?? words.types[type]}</span>
      </span>
    </span>
  );
}
