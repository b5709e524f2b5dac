import type { ModelsView } from '@behalf/contracts';
import { useStore } from '../../app/store.ts';
import { strings } from '../../strings/strings.ts';
import { modelChoiceStore } from './answerOptions.ts';
import { chooseModel, isSameModel, listModels } from './chooseModel.ts';
import styles from './Pickers.module.css';

/** Which model answers. With one there is nothing to choose. */
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
