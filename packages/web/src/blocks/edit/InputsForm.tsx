import { useMemo } from 'react';
import { FieldView } from '../../schemaForm/FieldView.tsx';
import { pathKey } from '../../schemaForm/fieldPath.ts';
import { renderFieldHint } from '../../schemaForm/renderFieldHint.tsx';
import { formContext } from '../../schemaForm/formContext.ts';
import { parseNode } from '../../schemaForm/parseNode.ts';
import { strings } from '../../strings/strings.ts';
import { IconButton } from '../../ui/Button.tsx';
import { TextArea } from '../../ui/Field.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { SegmentedControl } from '../../ui/SegmentedControl.tsx';
import styles from './BlockEditor.module.css';
import { inputModes, type InputRow, type InputsDraft } from './inputsDraft.ts';

/** What becomes of each argument of the tool. */
export function InputsForm({
  draft,
  errors,
  onChange,
}: {
  readonly draft: InputsDraft;
  readonly errors: ReadonlyMap<string, string>;
  readonly onChange: (draft: InputsDraft) => void;
}) {
  const words = strings.blocks.form;
  const root = draft.kind === 'rows' ? draft.form.root : undefined;
  const context = useMemo(() => ({ root: root ?? {}, errors }), [root, errors]);
  if (draft.kind === 'raw') {
    return (
      <TextArea
        label={words.jsonInputs}
        hint={words.jsonInputsHint}
        error={errors.get(pathKey([]))}
        className={styles['json']}
        rows={8}
        spellCheck={false}
        value={draft.text}
        onChange={({ target }) => onChange({ kind: 'raw', text: target.value })}
      />
    );
  }
  const { rows, undeclared } = draft;
  const setRow = (index: number, row: InputRow) => onChange({ ...draft, rows: rows.with(index, row) });
  return (
    <formContext.Provider value={context}>
      {rows.length === 0 && <p className={styles['hint']}>{words.noInputs}</p>}
      {rows.map((row, index) => (
        <InputRowFields
          key={row.property.name}
          row={row}
          root={draft.form.root}
          onChange={(next) => setRow(index, next)}
        />
      ))}
      {Object.keys(undeclared).length > 0 && (
        <section className={styles['row']} aria-label={words.undeclaredInputs}>
          <p className={styles['name']}>{words.undeclaredInputs}</p>
          <ul className={styles['others']}>
            {Object.entries(undeclared).map(([name, input]) => (
              <li key={name}>
                <code>{name}</code>
                <span className={styles['hint']}>{words.modes[input.mode]}</span>
                {input.mode !== 'ask' && (
                  <code className={styles['value']}>{JSON.stringify(input.value)}</code>
                )}
                <IconButton
                  size="small"
                  label={words.removeInput(name)}
                  icon={<Icon name="trash" size={16} />}
                  onClick={() =>
                    onChange({
                      ...draft,
                      undeclared: Object.fromEntries(
                        Object.entries(undeclared).filter(([other]) => other !== name),
                      ),
                    })
                  }
                />
              </li>
            ))}
          </ul>
        </section>
      )}
    </formContext.Provider>
  );
}

function InputRowFields({
  row,
  root,
  onChange,
}: {
  readonly row: InputRow;
  readonly root: Readonly<Record<string, unknown>>;
  readonly onChange: (row: InputRow) => void;
}) {
  const words = strings.blocks.form;
  const { property, mode, draft } = row;
  const { name, schema, isRequired } = property;
  const node = parseNode(root, schema);
  const label = node.title || name;
  return (
    <div className={styles['row']}>
      <div className={styles['head']}>
        <p className={styles['name']}>
          {label}
          {isRequired && <span className={styles['required']}> {strings.common.required}</span>}
        </p>
        <SegmentedControl
          label={words.inputLabel(label)}
          value={mode}
          options={inputModes.map((value) => ({ value, label: words.modes[value] }))}
          onChange={(next) => onChange({ ...row, mode: next })}
        />
      </div>
      <p className={styles['hint']}>{words.modeTexts[mode]}</p>
      {mode === 'ask' ? (
        renderFieldHint(node)
      ) : (
        <FieldView
          {...{ node, draft, label }}
          path={[name]}
          isRequired
          onChange={(next) => onChange({ ...row, draft: next })}
        />
      )}
    </div>
  );
}
