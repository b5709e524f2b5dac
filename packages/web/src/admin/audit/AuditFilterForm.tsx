import { auditKinds, auditOutcomes, errorCodes } from '@behalf/contracts/plain';
import { useId, useState, type SubmitEvent } from 'react';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import styles from './AuditFilterForm.module.css';
import { fromLocalField, readFilters, toLocalField, type AuditFilters, type FilterName } from './filters.ts';

const textFilters = ['action', 'tool', 'actor', 'code', 'request'] as const;
const timeFilters = ['from', 'to'] as const;

/** Filter form. A selected option applies immediately, text applies on submit. */
export function AuditFilterForm({
  applied,
  onApply,
}: {
  /** Query string. */
  readonly applied: string;
  readonly onApply: (filters: AuditFilters) => void;
}) {
  const { audit } = strings.admin;
  const [lastApplied, setLastApplied] = useState(applied);
  const [draft, setDraft] = useState(() => readFilters(new URLSearchParams(applied)));
  const [isOpen, setOpen] = useState(() => hasMoreFilters(draft));
  const listId = useId();
  if (lastApplied !== applied) {
    // The address changed, for example through the back button. The fields show the applied filters.
    const filters = readFilters(new URLSearchParams(applied));
    setLastApplied(applied);
    setDraft(filters);
    if (hasMoreFilters(filters)) setOpen(true);
  }

  const setDraftValue = (name: FilterName, value: string) => setDraft({ ...draft, [name]: value });
  const applyValue = (name: FilterName, value: string) => onApply({ ...draft, [name]: value });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    onApply(draft);
  }

  const textField = (name: FilterName, suggestions?: string) => (
    <TextField
      key={name}
      label={audit.filters[name]}
      list={suggestions}
      maxLength={200}
      autoComplete="off"
      spellCheck={false}
      value={draft[name] ?? ''}
      onChange={(event) => setDraftValue(name, event.target.value)}
    />
  );

  return (
    <search>
      <form className={styles['form']} onSubmit={submit}>
        <div className={styles['fields']}>
          <SelectField
            label={audit.filters.kind}
            value={draft.kind ?? ''}
            onChange={(event) => applyValue('kind', event.target.value)}
          >
            <option value="">{audit.any}</option>
            {auditKinds.map((kind) => (
              <option key={kind} value={kind}>
                {audit.kinds[kind]}
              </option>
            ))}
          </SelectField>
          <SelectField
            label={audit.filters.outcome}
            value={draft.outcome ?? ''}
            onChange={(event) => applyValue('outcome', event.target.value)}
          >
            <option value="">{audit.any}</option>
            {auditOutcomes.map((outcome) => (
              <option key={outcome} value={outcome}>
                {audit.outcomes[outcome]}
              </option>
            ))}
          </SelectField>
          {textField('server')}
        </div>
        <details
          className={styles['more']}
          open={isOpen}
          onToggle={(event) => setOpen(event.currentTarget.open)}
        >
          <summary>{audit.moreFilters}</summary>
          <div className={styles['fields']}>
            {textFilters.map((name) =>
              textField(name, name === 'code' || name === 'action' ? `${listId}-${name}` : undefined),
            )}
            {timeFilters.map((name) => (
              <TextField
                key={name}
                type="datetime-local"
                label={audit.filters[name]}
                value={toLocalField(draft[name])}
                onChange={(event) => setDraftValue(name, fromLocalField(event.target.value))}
              />
            ))}
          </div>
          <p className={styles['hint']}>{audit.matchHint}</p>
        </details>
        <div className={styles['actions']}>
          <Button type="submit">{audit.apply}</Button>
          {applied !== '' && (
            <Button variant="quiet" onClick={() => onApply({})}>
              {audit.clear}
            </Button>
          )}
        </div>
        <datalist id={`${listId}-code`}>
          {errorCodes.map((code) => (
            <option key={code} value={code} />
          ))}
        </datalist>
        <datalist id={`${listId}-action`}>
          {Object.entries(audit.actions).map(([action, words]) => (
            <option key={action} value={action} label={words} />
          ))}
        </datalist>
      </form>
    </search>
  );
}

/** Checks whether a collapsed filter is set. */
function hasMoreFilters(filters: AuditFilters): boolean {
  return [...textFilters, ...timeFilters].some((name) => filters[name] !== undefined);
}
