import type { SetCheckRequest, SetCheckView, SetStep } from '@behalf/contracts';
import { checkBlock } from '../blocks/checkBlock.ts';
import type { Checked } from '../blocks/checkBlocks.ts';
import { groupNeeds } from '../blocks/groupNeeds.ts';
import { blockShelf } from '../blocks/sealedBlocks.ts';
import type { RunBlockParts } from '../blocks/parts.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { findSaved, seeSaved } from '../saved/findSaved.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import type { ViewSetParts } from './parts.ts';
import { setShelf } from './sealedSets.ts';

/** Whether a set would run for the caller now, and what all its steps together wait for. Nothing runs. */
export async function checkSet(
  parts: RunBlockParts & ViewSetParts,
  inbound: Inbound,
  id: string,
  brought: SetCheckRequest,
): Promise<SetCheckView> {
  const { thing } = await findSaved(parts, setShelf(parts), inbound.principal, id);
  return checkSteps(parts, inbound, thing.steps, brought);
}

/** The same for steps that are about to run. */
export async function checkSteps(
  parts: RunBlockParts,
  inbound: Inbound,
  steps: readonly SetStep[],
  brought: SetCheckRequest,
): Promise<SetCheckView> {
  const { principal } = inbound;
  const stray = strayKeys(steps, brought);
  if (stray.length > 0) throw new GatewayError('REQUEST_INVALID', { errors: stray });
  const checked = await Promise.all(
    steps.map(async (step) => ({ key: step.key, ...(await checkStep(parts, inbound, step, brought)) })),
  );
  return {
    runs: checked.every(({ shown }) => shown.runs),
    steps: checked.map(({ key, shown, version }) => ({
      ...{ step: key, ...shown },
      ...(version !== undefined && { version }),
    })),
    missing: {
      inputs: checked.flatMap(({ key, inputs }) => inputs.map((input) => ({ ...input, step: key }))),
      credentials: groupNeeds(
        parts,
        principal,
        checked.flatMap(({ key, waiting }) => waiting.map((each) => ({ ...each, step: key }))),
      ),
    },
  };
}

/** With the version of the block that was looked at; none: there is no block for the caller. */
interface CheckedWithVersion extends Checked {
  readonly version?: number;
}

async function checkStep(
  parts: RunBlockParts,
  inbound: Inbound,
  step: SetStep,
  brought: SetCheckRequest,
): Promise<CheckedWithVersion> {
  const { block: id } = step;
  const block = (await seeSaved(parts, blockShelf(parts), inbound.principal, id))?.thing;
  if (!block) return { shown: { id, state: 'not_found', runs: false }, inputs: [], waiting: [] };
  const credential = ownOf(brought.credentials, step.key);
  try {
    const given = givenTo(step, ownOf(brought.inputs, step.key) ?? {});
    const promised = Object.keys(step.inputs).filter((name) => step.inputs[name]?.mode === 'from');
    const checked = await checkBlock(parts, { ...inbound, credential }, block, { given, promised });
    return { ...checked, version: block.version };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'BLOCK_INPUTS_INVALID') throw error;
    const { title, tool } = block;
    const errors = [...(error.errors ?? [])];
    const shown = { id, title, tool, state: 'broken', runs: false, code: error.code, errors } as const;
    return { shown, inputs: [], waiting: [], version: block.version };
  }
}

/** What a run brings to a step, and what the set does: what the set decides is nobody else's to change. */
export function givenTo({ inputs }: Pick<SetStep, 'inputs'>, given: JsonObject): JsonObject {
  const errors = Object.keys(given)
    .filter((name) => Object.hasOwn(inputs, name))
    .map((name) => ({ path: `inputs.${name}`, code: 'input_fixed', message: 'is decided by the set' }));
  if (errors.length > 0) throw new GatewayError('BLOCK_INPUTS_INVALID', { errors });
  const fixed = Object.entries(inputs).flatMap(([name, input]) =>
    input.mode === 'fixed' ? [[name, input.value] as const] : [],
  );
  return { ...given, ...Object.fromEntries(fixed) };
}

/** What is brought to a step that is not there was meant for another. */
function strayKeys(steps: readonly SetStep[], { inputs, credentials }: SetCheckRequest) {
  const keys = new Set(steps.map(({ key }) => key));
  return [
    ...Object.keys(inputs).map((key) => ['inputs', key] as const),
    ...Object.keys(credentials).map((key) => ['credentials', key] as const),
  ]
    .filter(([, key]) => !keys.has(key))
    .map(([field, key]) => ({
      ...{ path: `${field}.${key}`, code: 'unknown_step', message: 'is no step that is left to run' },
    }));
}

export function ownOf<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
