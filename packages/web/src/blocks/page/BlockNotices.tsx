import type { BlockCheckView, BlockView, CheckedBlock } from '@behalf/contracts';
import { explainErrorCode } from '../../api/explain.ts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { initialBlockStatus, blockStatus, blockStatusTones, type BlockStatus } from '../state/blockStatus.ts';
import { describeDrift } from '../state/describeDrift.ts';
import styles from './BlockPage.module.css';

/** Told where they can be met. */
const SHOWN_BY_RUNNER: readonly BlockStatus[] = ['checking', 'ready', 'asks', 'sign_in', 'values', 'choose'];

/** Why a block does not run, and what changed about its tool. */
export function BlockNotices({
  block,
  check,
}: {
  readonly block: BlockView;
  readonly check: BlockCheckView | undefined;
}) {
  const checkedBlock = check?.blocks[0];
  const status = checkedBlock ? blockStatus(checkedBlock, check.missing) : initialBlockStatus(block);
  return (
    <>
      {!SHOWN_BY_RUNNER.includes(status) && <StatusNotice status={status} checkedBlock={checkedBlock} />}
      {checkedBlock?.drift && <DriftNotice drift={checkedBlock.drift} checkedBlock={checkedBlock} />}
    </>
  );
}

function StatusNotice({
  status,
  checkedBlock,
}: {
  readonly status: BlockStatus;
  readonly checkedBlock: CheckedBlock | undefined;
}) {
  const { name, text } = strings.blocks.states[status];
  const explanation = status === 'unknown' ? explainErrorCode(checkedBlock?.code ?? '') : undefined;
  const tone: Tone = blockStatusTones[status];
  return (
    <Notice tone={tone} title={name}>
      <p>{text}</p>
      {explanation && <p>{[explanation.title, explanation.text].join('. ')}</p>}
      {checkedBlock?.errors && (
        <ul className={styles['list']}>
          {checkedBlock.errors.map(({ path, message }, index) => (
            <li key={index}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

function DriftNotice({
  drift,
  checkedBlock: { runs, state },
}: {
  readonly drift: NonNullable<CheckedBlock['drift']>;
  readonly checkedBlock: CheckedBlock;
}) {
  const words = strings.blocks.drift;
  const consequence = runs ? words.runs : state === 'incomplete' ? words.undecided : words.broken;
  return (
    <Notice tone="warning" title={words.title}>
      <ul className={styles['list']}>
        {describeDrift(drift).flatMap(({ part, changes }) =>
          changes.map((change) => <li key={`${part} ${change}`}>{`${part}: ${change}`}</li>),
        )}
      </ul>
      <p>{`${consequence} ${words.fix}`}</p>
    </Notice>
  );
}
