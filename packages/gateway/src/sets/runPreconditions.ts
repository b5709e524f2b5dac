import type { StoredStep, SetCheckRequest, SetCheckView, SetRunRequest, SetStep } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { getOwn } from './checkSet.ts';
import { MAX_RUN_INPUT_LENGTH } from './limits.ts';
import type { SetRun } from './sealedRuns.ts';

/** SET_INCOMPLETE unless all steps would run now: what is missing is named together, and so is what is broken. */
export function requireRunnable({ runs, steps, missing }: SetCheckView): void {
  if (runs) return;
  const errors = steps
    .filter(({ state }) => state !== 'ready' && state !== 'incomplete')
    .flatMap(({ step, state, code, errors: stepErrors }) =>
      stepErrors
        ? stepErrors.map((error) => ({ ...error, path: `steps.${step}.${error.path}` }))
        : [
            {
              path: `steps.${step}`,
              code: state,
              message: messages[state] ?? `cannot run: ${code ?? state}`,
            },
          ],
    );
  throw new GatewayError('SET_INCOMPLETE', { missing, ...(errors.length > 0 && { errors }) });
}

/** VERSION_CONFLICT where the runner has read another version of a block than the one that would run. */
export function requireExpectedVersions({ steps }: SetCheckView, blocks: SetRunRequest['blocks']): void {
  for (const { step, version } of steps) {
    const expectedVersion = getOwn(blocks, step);
    // Of a block that is not there more is told than that.
    if (expectedVersion !== undefined && version !== undefined && expectedVersion !== version)
      throw new GatewayError('VERSION_CONFLICT');
  }
}

const messages: Readonly<Record<string, string>> = {
  not_found: 'The block was removed or is not shared with you.',
  no_access: 'The server is not shared with you.',
  server_gone: 'The server was removed.',
  tool_gone: 'The tool of this server is not available to you.',
  unknown: 'The tools of the server cannot be listed at the moment.',
};

/** The steps of a run that has not begun. */
export function createSteps(
  steps: readonly SetStep[],
  check: SetCheckView,
  provided: SetCheckRequest,
): StoredStep[] {
  return steps.map((step, index) => {
    const { title = '', server, tool = '', version } = check.steps[index] ?? {};
    return {
      ...{ ...step, title, server: server?.name ?? '', tool },
      ...{ state: 'pending', startedAt: null, endedAt: null, mayGoOn: false, providedInputs: {} },
      ...selectProvided(step.key, provided),
      ...(version !== undefined && { blockVersion: version }),
    };
  });
}

/** The steps that have not succeeded, with what is brought to them over what was before. */
export function getRemainingSteps(
  { steps, done }: Pick<SetRun, 'steps' | 'done'>,
  provided: SetCheckRequest,
): StoredStep[] {
  return steps.slice(done).map((step) => ({ ...step, ...selectProvided(step.key, provided, step) }));
}

/**
 * RUN_BLOCK_CHANGED unless the blocks are still those with which the run began: whoever may edit one decides what it fixes. Steps
 * of earlier releases take the one that is there.
 */
export function requireSameBlocks(steps: readonly StoredStep[], check: SetCheckView): StoredStep[] {
  return steps.map((step, index) => {
    const version = check.steps[index]?.version;
    if (version === undefined) return step;
    const { blockVersion = version } = step;
    if (blockVersion !== version) throw new GatewayError('RUN_BLOCK_CHANGED');
    return { ...step, blockVersion };
  });
}

/** All that steps are brought by now, by their keys. */
export function mergeProvided(
  steps: readonly StoredStep[],
  { inputs, credentials }: SetCheckRequest,
): SetCheckRequest {
  return {
    inputs: {
      ...inputs,
      ...Object.fromEntries(steps.map(({ key, providedInputs }) => [key, providedInputs])),
    },
    credentials: {
      ...credentials,
      ...Object.fromEntries(
        steps.flatMap(({ key, credential }) => (credential === undefined ? [] : [[key, credential]])),
      ),
    },
  };
}

function selectProvided(
  key: string,
  { inputs, credentials }: SetCheckRequest,
  previous?: Pick<StoredStep, 'providedInputs' | 'credential'>,
): Pick<StoredStep, 'providedInputs' | 'credential'> {
  const credential = getOwn(credentials, key) ?? previous?.credential;
  return {
    providedInputs: { ...previous?.providedInputs, ...getOwn(inputs, key) },
    ...(credential !== undefined && { credential }),
  };
}

export function requireInputLimit(steps: readonly StoredStep[]): void {
  const size = steps.reduce(
    (sum, { providedInputs, inputs }) => sum + JSON.stringify([providedInputs, inputs]).length,
    0,
  );
  if (size > MAX_RUN_INPUT_LENGTH) throw new GatewayError('REQUEST_TOO_LARGE');
}
