import type { ModelsView } from '@behalf/contracts';
import { useStore } from '../../app/store.ts';
import { strings } from '../../strings/strings.ts';
import { rememberedModel } from './choices.ts';
import { chooseModel, isSameModel, modelsOf } from './chooseModel.ts';
import styles from './Pickers.module.css';

/** Which model answers. With one there is nothing to choose. */
export function ModelPicker({ models, userId }: { readonly models: ModelsView; readonly userId: string }) {
  const words = strings.chat.composer;
  const remembered = rememberedModel(userId);
  const chosen = chooseModel(models, useStore(remembered));
  const all = modelsOf(models);
  if (!chosen || all.length === 1)
    return (
      <span className={styles['only']} title={words.model}>
        {chosen?.model}
      </span>
    );
  const isSplit = models.endpoints.length > 1;
  return (
    <select
      className={styles['picker']}
      aria-label={words.model}
      value={all.findIndex((one) => isSameModel(chosen, one))}
      onChange={({ target }) => remembered.set(all[Number(target.value)] ?? null)}
    >
      {isSplit
        ? models.endpoints.map(({ name }) => (
            <optgroup key={name} label={name}>
              {all.map(
                (one, index) => one.endpoint === name && <Option key={index} {...{ index, ...one }} />,
              )}
            </optgroup>
          ))
        : all.map((one, index) => <Option key={index} {...{ index, ...one }} />)}
    </select>
  );
}

function Option({ index, model }: { readonly index: number; readonly model: string }) {
  return <option value={index}>{model}</option>;
}
