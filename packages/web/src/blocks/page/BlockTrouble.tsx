import type { BlockCheckView, BlockView, CheckedBlock } from '@behalf/contracts';
import { explainErrorCode } from '../../api/explain.ts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { firstStanding, standingOf, standingTones, type BlockStanding } from '../state/blockState.ts';
import { driftText } from '../state/driftText.ts';
import styles from './BlockPage.module.css';

/** Told where they can be met. */
const ELSEWHERE: readonly BlockStanding[] = ['checking', 'ready', 'asks', 'sign_in', 'values', 'choose'];

/** Why a block does not run, and what changed about its tool. */
export function BlockTrouble({
  block,
  check,
}: {
  readonly block: BlockView;
  readonly check: BlockCheckView | undefined;
}) {
  const checked = check?.blocks[0];
  const standing = checked ? standingOf(checked, check.missing) : firstStanding(block);
  return (
    <>
      {!ELSEWHERE.includes(standing) && <Standing standing={standing} checked={checked} />}
      {checked?.drift && <Drift drift={checked.drift} checked={checked} />}
    </>
  );
}

function Standing({
  standing,
  checked,
}: {
  readonly standing: BlockStanding;
  readonly checked: CheckedBlock | undefined;
}) {
  const { name, text } = strings.blocks.states[standing];
  const why = standing === 'unknown' ? explainErrorCode(checked?.code ?? '') : undefined;
  const tone: Tone = standingTones[standing];
  return (
    <Notice tone={tone} title={name}>
      <p>{text}</p>
      {why && <p>{[why.title, why.text].join('. ')}</p>}
      {checked?.errors && (
        <ul className={styles['list']}>
          {checked.errors.map(({ path, message }, index) => (
            <li key={index}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

function Drift({
  drift,
  checked: { runs, state },
}: {
  readonly drift: NonNullable<CheckedBlock['drift']>;
  readonly checked: CheckedBlock;
}) {
  const words = strings.blocks.drift;
  const outlook = runs ? words.runs : state === 'incomplete' ? words.waits : words.broken;
  return (
    <Notice tone="warning" title={words.title}>
      <ul className={styles['list']}>
        {driftText(drift).flatMap(({ part, changes }) =>
          changes.map((change) => <li key={`${part} ${change}`}>{`${part}: ${change}`}</li>),
        )}
      </ul>
      <p>{`${outlook} ${words.fix}`}</p>
    </Notice>
  );
}
