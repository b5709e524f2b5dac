import { strings } from '../../strings/strings.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Icon } from '../../ui/Icon.tsx';
import type { FormSectionProps } from './formSectionProps.ts';
import { rowPath } from './formProblems.ts';
import styles from './ServerDialog.module.css';
import type { HeaderRow } from './serverForm.ts';

/** Headers sent with every call. Stored ones are kept unseen, or replaced as a whole. */
export function HeaderFields({ form, before, problems, change }: FormSectionProps) {
  const words = strings.servers.form;
  const { headers, replacesHeaders } = form;
  const error = problems['headers'];

  function add(): void {
    const id = Math.max(0, ...headers.map((row) => row.id)) + 1;
    change({ headers: [...headers, { id, name: '', value: '' }] }, 'headers');
  }

  const pathsOf = ({ id, name }: HeaderRow) => [rowPath(id), `headers.${name.trim().toLowerCase()}`];
  const update = (row: HeaderRow, patch: Partial<HeaderRow>) =>
    change(
      { headers: headers.map((candidate) => (candidate.id === row.id ? { ...row, ...patch } : candidate)) },
      ...pathsOf(row),
    );

  return (
    <fieldset className={styles['headers']}>
      <legend className={styles['legend']}>{words.headers}</legend>
      <p className={styles['hint']}>{replacesHeaders ? words.headersHint : words.headersKeptHint}</p>
      {replacesHeaders &&
        headers.map((row) => (
          <div key={row.id} className={styles['row']}>
            <TextField
              label={words.headerName}
              error={pathsOf(row).flatMap((path) => problems[path] ?? [])[0]}
              autoComplete="off"
              spellCheck={false}
              value={row.name}
              onChange={({ target }) => update(row, { name: target.value })}
            />
            <TextField
              label={words.headerValue}
              type="password"
              autoComplete="new-password"
              spellCheck={false}
              maxLength={8192}
              value={row.value}
              onChange={({ target }) => update(row, { value: target.value })}
            />
            <IconButton
              label={words.headerRemove(row.name)}
              icon={<Icon name="trash" />}
              onClick={() => change({ headers: headers.filter(({ id }) => id !== row.id) }, ...pathsOf(row))}
            />
          </div>
        ))}
      {error !== undefined && (
        <p className={styles['error']} tabIndex={-1} aria-invalid>
          {error}
        </p>
      )}
      {before && replacesHeaders && headers.length === 0 && (
        <p className={styles['hint']}>{words.headersRemoved}</p>
      )}
      {replacesHeaders && (
        <Button size="small" className={styles['start']} icon={<Icon name="plus" size={16} />} onClick={add}>
          {words.headerAdd}
        </Button>
      )}
      {before && (
        <Button
          size="small"
          variant="quiet"
          className={styles['start']}
          onClick={() => change({ replacesHeaders: !replacesHeaders, headers: [] }, 'headers')}
        >
          {replacesHeaders ? words.headersKeep : words.headersReplace}
        </Button>
      )}
    </fieldset>
  );
}
