import { useEffect, useRef, useState } from 'react';
import { strings } from '../../strings/strings.ts';
import { TextField } from '../../ui/Field.tsx';
import styles from './UsersPanel.module.css';

/** Long enough that a word is typed, short enough that nobody waits. */
const DEBOUNCE_MS = 300;

/** Searches while one types. */
export function UserSearch({
  value,
  onSearch,
}: {
  readonly value: string;
  readonly onSearch: (text: string) => void;
}) {
  const { users } = strings.admin;
  const [text, setText] = useState(value);
  const onSearchRef = useRef(onSearch);
  useEffect(() => {
    onSearchRef.current = onSearch;
  });
  useEffect(() => {
    if (text.trim() === value) return undefined;
    const timer = setTimeout(() => onSearchRef.current(text.trim()), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <search className={styles['search']}>
      <TextField
        type="search"
        label={users.search}
        maxLength={100}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </search>
  );
}
