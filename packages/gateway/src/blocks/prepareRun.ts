import type { SetCheckRequest, SetCheckView, SetRunRequest, SetStep, StoredStep } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { getOwn } from './inputs.ts';

// The steps of a new or resumed run, from the set, its check and the inputs in the request.

/** SET_INCOMPLETE with everything that is missing or invalid, unless all steps would run now. */
export function requireRunnable({ runs, steps, missing }: SetCheckView): void {
  if (runs) return;
  const errors = steps
    .filter(({ state }) => state !== 'ready' && state !== 'incomplete')
    .flatMap(({ step, state, code, errors: stepErrors }) => {
      const path = `steps.${step}`;
      if (stepErrors) return stepErrors.map((error) => ({ ...error, path: `${path}.${error.path}` }));
      return [{ path, code: state, message: messages[state] ?? `cannot run: ${code ?? state}` }];
    });
  throw new GatewayError('SET_INCOMPLETE', { missing, ...(errors.length > 0 && { errors }) });
}

const messages: Readonly<Record<string, string>> = {
  not_found: 'The block was removed or is not shared with you.',
  no_access: 'The server is not shared with you.',
  server_gone: 'The server was removed.',
  tool_gone: 'The tool of this server is not available to you.',
  unknown: 'The tools of the server cannot be listed at the moment.',
};

/** VERSION_CONFLICT if the caller read another version of a block. A block that is gone is reported by `requireRunnable`. */
export function requireExpectedVersions({ steps }: SetCheckView, blocks: SetRunRequest['blocks']): void {
  for (const { step, version } of steps) {
    const expectedVersion = getOwn(blocks, step);
    if (expectedVersion !== undefined && version !== undefined && expectedVersion !== version)
      throw new GatewayError('VERSION_CONFLICT');
  }
}

export function createSteps(
  steps: readonly SetStep[],
  check: SetCheckView,
  provided: SetCheckRequest,
): StoredStep[] {
  return steps.map((step, index) => {
    const { title = '', server, tool = '', version } = check.steps[index] ?? {};
    return {
      ...{ ...step, title, server: server?.name ?? '', tool },
      ...{ state: 'pending', startedAt: null, endedAt: null, mayGoOn: false },
      ...selectProvided(step.key, provided),
      ...(version !== undefined && { blockVersion: version }),
    };
  });
}

/**
 * RUN_BLOCK_CHANGED unless each block still has the version with which the run started. Runs of earlier releases have no
 * versions; their steps use the current ones.
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

/** The inputs and credentials of all steps, those of the start included. */
export function mergeProvided(
  steps: readonly StoredStep[],
  { inputs, credentials }: SetCheckRequest,
): SetCheckRequest {
  const ownCredentials = steps.flatMap(({ key, credential }) =>
    credential === undefined ? [] : [[key, credential] as const],
  );
  // `Object.fromEntries` also defines keys such as `__proto__` as own properties.
  return {
    inputs: {
      ...inputs,
      ...Object.fromEntries(steps.map(({ key, providedInputs }) => [key, providedInputs])),
    },
    credentials: { ...credentials, ...Object.fromEntries(ownCredentials) },
  };
}

export function selectProvided(
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

/** The inputs of a run as JSON. With the results, this stays below the record limit of the stores. */
const MAX_RUN_INPUT_LENGTH = 512 * 1024;

export function requireInputLimit(steps: readonly StoredStep[]): void {
  const measure = ({ providedInputs, inputs }: StoredStep) => JSON.stringify([providedInputs, inputs]).length;
  if (steps.reduce((sum, step) => sum + measure(step), 0) > MAX_RUN_INPUT_LENGTH)
    throw new GatewayError('REQUEST_TOO_LARGE');
}
