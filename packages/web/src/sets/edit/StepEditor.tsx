import type { BlockSummary } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { blockQuery } from '../../api/blocks.ts';
import { useServerTitleLookup } from '../../api/serverTitleLookup.ts';
import { parseForm } from '../../schemaForm/parseForm.ts';
import { strings } from '../../strings/strings.ts';
import { IconButton } from '../../ui/Button.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { Icon } from '../../ui/Icon.tsx';
import styles from '../../blocks/edit/BlockEditor.module.css';
import { errorKey, type SourceDraft, type StepDraft } from './setDraft.ts';

interface StepEditorProps {
  readonly step: StepDraft;
  readonly index: number;
  /** Those that run before it. */
  readonly earlier: readonly StepDraft[];
  readonly blocks: readonly BlockSummary[];
  readonly errors: ReadonlyMap<string, string>;
  readonly isLast: boolean;
  readonly onChange: (step: StepDraft) => void;
  readonly onMove: (offset: -1 | 1) => void;
  readonly onRemove: () => void;
}

/** One step: which block, and where its inputs come from. */
export function StepEditor(props: StepEditorProps) {
  const { step, index, blocks, errors, isLast, onChange, onMove, onRemove } = props;
  const words = strings.sets.form;
  const number = index + 1;
  const serverTitle = useServerTitleLookup();
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
        error={isKnown ? errors.get(errorKey(step.key)) : words.blockUnavailable}
        value={isKnown ? step.block : ''}
        onChange={({ target }) => onChange({ ...step, block: target.value, inputs: {} })}
      >
        <option value="" disabled>
          {words.chooseBlock}
        </option>
        {blocks.map(({ id, title, server, tool }) => (
          <option key={id} value={id}>
            {`${title} (${strings.blocks.toolOnServer(tool, serverTitle(server.name))})`}
          </option>
        ))}
      </SelectField>
      {step.block !== '' && isKnown && <InputSources {...props} />}
    </li>
  );
}

/** The inputs that the block does not fix. */
function InputSources({ step, earlier, blocks, errors, onChange }: StepEditorProps) {
  const words = strings.sets.form;
  const { data: block } = useQuery(blockQuery(step.block));
  if (!block) return null;
  const { node } = parseForm(block.inputSchema);
  const declaredNames = node.kind === 'object' ? node.properties.map(({ name }) => name) : [];
  const isSettable = (name: string) =>
    !Object.hasOwn(block.inputs, name) || block.inputs[name]?.mode !== 'fixed';
  const names = [...new Set([...declaredNames, ...Object.keys(step.inputs)])].filter(isSettable);
  const titleOfBlock = (id: string) => blocks.find((one) => one.id === id)?.title ?? '';
  if (names.length === 0) return <p className={styles['hint']}>{words.noInputs}</p>;

  function setSource(name: string, source: SourceDraft | undefined): void {
    const others = Object.entries(step.inputs).filter(([other]) => other !== name);
    onChange({ ...step, inputs: Object.fromEntries(source ? [...others, [name, source]] : others) });
  }
  return (
    <>
      {names.map((name) => {
        const source = Object.hasOwn(step.inputs, name) ? step.inputs[name] : undefined;
        const selectedValue =
          source === undefined ? '' : source.mode === 'fixed' ? 'fixed' : `from ${source.step}`;
        const error = errors.get(errorKey(step.key, name));
        return (
          <div key={name} className={styles['pair']}>
            <SelectField
              label={words.sourceOf(name)}
              error={source?.mode === 'from' ? error : undefined}
              value={selectedValue}
              onChange={({ target: { value } }) => {
                if (value === '') setSource(name, undefined);
                else if (value === 'fixed') setSource(name, { mode: 'fixed', text: '' });
                else setSource(name, { mode: 'from', step: value.slice('from '.length), pointer: '' });
              }}
            >
              <option value="">{words.blockSetting}</option>
              <option value="fixed">{words.fixedValue}</option>
              {earlier.map(({ key, block: id }, position) => (
                <option key={key} value={`from ${key}`}>
                  {words.from(position + 1, titleOfBlock(id))}
                </option>
              ))}
            </SelectField>
            {source?.mode === 'fixed' && (
              <TextField
                label={words.value(name)}
                hint={words.valueHint}
                error={error}
                value={source.text}
                onChange={({ target }) => setSource(name, { mode: 'fixed', text: target.value })}
              />
            )}
            {source?.mode === 'from' && (
              <TextField
                label={words.pointer(name)}
                hint={words.pointerHint}
                spellCheck={false}
                value={source.pointer}
                onChange={({ target }) => setSource(name, { ...source, pointer: target.value })}
              />
            )}
          </div>
        );
      })}
    </>
  );
}
