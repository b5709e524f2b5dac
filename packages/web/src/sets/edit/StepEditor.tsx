import type { BlockSummary } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { blockQuery } from '../../api/blocks.ts';
import { useServerTitles } from '../../api/serverTitles.ts';
import { readForm } from '../../schemaForm/readForm.ts';
import { strings } from '../../strings/strings.ts';
import { IconButton } from '../../ui/Button.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { Icon } from '../../ui/Icon.tsx';
import styles from '../../blocks/edit/BlockEditor.module.css';
import { placeOf, type SourceDraft, type StepDraft } from './setDraft.ts';

interface EditorProps {
  readonly step: StepDraft;
  readonly index: number;
  /** Those that run before it. */
  readonly earlier: readonly StepDraft[];
  readonly blocks: readonly BlockSummary[];
  readonly errors: ReadonlyMap<string, string>;
  readonly isLast: boolean;
  readonly onChange: (step: StepDraft) => void;
  readonly onMove: (by: -1 | 1) => void;
  readonly onRemove: () => void;
}

/** One step: which block, and where its inputs come from. */
export function StepEditor(props: EditorProps) {
  const { step, index, blocks, errors, isLast, onChange, onMove, onRemove } = props;
  const words = strings.sets.form;
  const number = index + 1;
  const serverTitle = useServerTitles();
  const isKnown = step.block === '' || blocks.some(({ id }) => id === step.block);
  return (
    <li className={styles['row']} aria-label={words.step(number)}>
      <div className={styles['head']}>
        <p className={styles['name']}>{words.step(number)}</p>
        <span>
          <IconButton
            label={words.up(number)}
            icon={<Icon name="up" />}
            disabled={index === 0}
            onClick={() => onMove(-1)}
          />
          <IconButton
            label={words.down(number)}
            icon={<Icon name="down" />}
            disabled={isLast}
            onClick={() => onMove(1)}
          />
          <IconButton label={words.remove(number)} icon={<Icon name="trash" />} onClick={onRemove} />
        </span>
      </div>
      <SelectField
        label={words.block}
        isRequired
        error={isKnown ? errors.get(placeOf(step.key)) : words.blockGone}
        value={isKnown ? step.block : ''}
        onChange={({ target }) => onChange({ ...step, block: target.value, inputs: {} })}
      >
        <option value="" disabled>
          {words.chooseBlock}
        </option>
        {blocks.map(({ id, title, server, tool }) => (
          <option key={id} value={id}>
            {`${title} (${strings.blocks.of(tool, serverTitle(server.name))})`}
          </option>
        ))}
      </SelectField>
      {step.block !== '' && isKnown && <Sources {...props} />}
    </li>
  );
}

/** The inputs that the block does not fix. */
function Sources({ step, earlier, blocks, errors, onChange }: EditorProps) {
  const words = strings.sets.form;
  const { data: block } = useQuery(blockQuery(step.block));
  if (!block) return null;
  const { node } = readForm(block.inputSchema);
  const declared = node.kind === 'object' ? node.properties.map(({ name }) => name) : [];
  const isOpen = (name: string) => !Object.hasOwn(block.inputs, name) || block.inputs[name]?.mode !== 'fixed';
  const names = [...new Set([...declared, ...Object.keys(step.inputs)])].filter(isOpen);
  const titleOf = (id: string) => blocks.find((one) => one.id === id)?.title ?? '';
  if (names.length === 0) return <p className={styles['hint']}>{words.noInputs}</p>;

  function set(name: string, source: SourceDraft | undefined): void {
    const others = Object.entries(step.inputs).filter(([other]) => other !== name);
    onChange({ ...step, inputs: Object.fromEntries(source ? [...others, [name, source]] : others) });
  }
  return (
    <>
      {names.map((name) => {
        const source = Object.hasOwn(step.inputs, name) ? step.inputs[name] : undefined;
        const chosen = source === undefined ? '' : source.mode === 'fixed' ? 'fixed' : `from ${source.step}`;
        const error = errors.get(placeOf(step.key, name));
        return (
          <div key={name} className={styles['pair']}>
            <SelectField
              label={words.sourceOf(name)}
              error={source?.mode === 'from' ? error : undefined}
              value={chosen}
              onChange={({ target: { value } }) => {
                if (value === '') set(name, undefined);
                else if (value === 'fixed') set(name, { mode: 'fixed', text: '' });
                else set(name, { mode: 'from', step: value.slice('from '.length), pointer: '' });
              }}
            >
              <option value="">{words.asBlock}</option>
              <option value="fixed">{words.fixed}</option>
              {earlier.map(({ key, block: id }, at) => (
                <option key={key} value={`from ${key}`}>
                  {words.from(at + 1, titleOf(id))}
                </option>
              ))}
            </SelectField>
            {source?.mode === 'fixed' && (
              <TextField
                label={words.value(name)}
                hint={words.valueHint}
                error={error}
                value={source.text}
                onChange={({ target }) => set(name, { mode: 'fixed', text: target.value })}
              />
            )}
            {source?.mode === 'from' && (
              <TextField
                label={words.pointer(name)}
                hint={words.pointerHint}
                spellCheck={false}
                value={source.pointer}
                onChange={({ target }) => set(name, { ...source, pointer: target.value })}
              />
            )}
          </div>
        );
      })}
    </>
  );
}
