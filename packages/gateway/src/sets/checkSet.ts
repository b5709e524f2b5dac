import type { SetCheckRequest, SetCheckView, SetStep } from '@behalf/contracts';
import { checkBlock } from '../blocks/checkBlock.ts';
import type { BlockCheckResult } from '../blocks/checkBlocks.ts';
import { groupPrerequisites } from '../blocks/missingPrerequisites.ts';
import { getBlockCollection } from '../blocks/sealedBlocks.ts';
import type { RunBlockParts } from '../blocks/parts.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { requireSaved, findVisibleSaved } from '../saved/findSaved.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import type { ViewSetParts } from './parts.ts';
import { getSetCollection } from './sealedSets.ts';

/** Whether a set would run for the caller now, and what all its steps together wait for. Nothing runs. */
export async function checkSet(
  parts: RunBlockParts & ViewSetParts,
  inbound: Inbound,
  id: string,
  request: SetCheckRequest,
): Promise<SetCheckView> {
  const { resource } = await requireSaved(parts, getSetCollection(parts), inbound.principal, id);
  return checkSteps(parts, inbound, resource.steps, request);
}

/** The same for steps that are about to run. */
export async function checkSteps(
  parts: RunBlockParts,
  inbound: Inbound,
  steps: readonly SetStep[],
  request: SetCheckRequest,
): Promise<SetCheckView> {
  const { principal } = inbound;
  const unknownSteps = findUnknownSteps(steps, request);
  if (unknownSteps.length > 0) throw new GatewayError('REQUEST_INVALID', { errors: unknownSteps });
  const checks = await Promise.all(
    steps.map(async (step) => ({ key: step.key, ...(await checkStep(parts, inbound, step, request)) })),
  );
  return {
    runs: checks.every(({ view }) => view.runs),
    steps: checks.map(({ key, view, version }) => ({
      ...{ step: key, ...view },
      ...(version !== undefined && { version }),
    })),
    missing: {
      inputs: checks.flatMap(({ key, inputs }) => inputs.map((input) => ({ ...input, step: key }))),
      credentials: groupPrerequisites(
        parts,
        principal,
        checks.flatMap(({ key, prerequisites }) => prerequisites.map((entry) => ({ ...entry, step: key }))),
      ),
    },
  };
}

/** With the version of the block that was looked at; none: there is no block for the caller. */
interface StepCheck extends BlockCheckResult {
  readonly version?: number;
}

async function checkStep(
  parts: RunBlockParts,
  inbound: Inbound,
  step: SetStep,
  request: SetCheckRequest,
): Promise<StepCheck> {
  const { block: id } = step;
  const block = (await findVisibleSaved(parts, getBlockCollection(parts), inbound.principal, id))?.resource;
  if (!block) return { view: { id, state: 'not_found', runs: false }, inputs: [], prerequisites: [] };
  const credential = getOwn(request.credentials, step.key);
  try {
    const provided = mergeStepInputs(step, getOwn(request.inputs, step.key) ?? {});
    const deferred = Object.keys(step.inputs).filter((name) => step.inputs[name]?.mode === 'from');
    const check = await checkBlock(parts, { ...inbound, credential }, block, { provided, deferred });
    return { ...check, version: block.version };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'BLOCK_INPUTS_INVALID') throw error;
    const { title, tool } = block;
    const errors = [...(error.errors ?? [])];
    const view = { id, title, tool, state: 'broken', runs: false, code: error.code, errors } as const;
    return { view, inputs: [], prerequisites: [], version: block.version };
  }
}

/** What a run brings to a step, and what the set does: what the set decides is nobody else's to change. */
export function mergeStepInputs({ inputs }: Pick<SetStep, 'inputs'>, stepInputs: JsonObject): JsonObject {
  const errors = Object.keys(stepInputs)
    .filter((name) => Object.hasOwn(inputs, name))
    .map((name) => ({ path: `inputs.${name}`, code: 'input_fixed', message: 'is fixed by the set' }));
  if (errors.length > 0) throw new GatewayError('BLOCK_INPUTS_INVALID', { errors });
  const fixed = Object.entries(inputs).flatMap(([name, input]) =>
    input.mode === 'fixed' ? [[name, input.value] as const] : [],
  );
  return { ...stepInputs, ...Object.fromEntries(fixed) };
}

/** What is brought to a step that is not there was meant for another. */
function findUnknownSteps(steps: readonly SetStep[], { inputs, credentials }: SetCheckRequest) {
  const keys = new Set(steps.map(({ key }) => key));
  return [
    ...Object.keys(inputs).map((key) => ['inputs', key] as const),
    ...Object.keys(credentials).map((key) => ['credentials', key] as const),
  ]
    .filter(([, key]) => !keys.has(key))
    .map(([field, key]) => ({
      ...{ path: `${field}.${key}`, code: 'unknown_step', message: 'is not a remaining step of this run' },
    }));
}

export function getOwn<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
