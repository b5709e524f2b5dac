import type { KeptStep, SetCheckRequest, SetCheckView, SetRunRequest, SetStep } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { ownOf } from './checkSet.ts';
import { LARGEST_GIVEN } from './limits.ts';
import type { Run } from './sealedRuns.ts';

/** SET_INCOMPLETE unless all steps would run now: what is missing is named together, and so is what is broken. */
export function requireRunnable({ runs, steps, missing }: SetCheckView): void {
  if (runs) return;
  const errors = steps
    .filter(({ state }) => state !== 'ready' && state !== 'incomplete')
    .flatMap(({ step, state, code, errors: within }) =>
      within
        ? within.map((each) => ({ ...each, path: `steps.${step}.${each.path}` }))
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
export function requireSeen({ steps }: SetCheckView, blocks: SetRunRequest['blocks']): void {
  for (const { step, version } of steps) {
    const seen = ownOf(blocks, step);
    // Of a block that is not there more is told than that.
    if (seen !== undefined && version !== undefined && seen !== version)
      throw new GatewayError('VERSION_CONFLICT');
  }
}

const messages: Readonly<Record<string, string>> = {
  not_found: 'Its block is gone, or not shared with you.',
  no_access: 'Its server is not shared with you.',
  server_gone: 'Its server is gone.',
  tool_gone: 'Its server has no such tool for you.',
  unknown: 'Its server does not show its tools now.',
};

/** The steps of a run that has not begun. */
export function firstSteps(
  steps: readonly SetStep[],
  check: SetCheckView,
  brought: SetCheckRequest,
): KeptStep[] {
  return steps.map((step, at) => {
    const { title = '', server, tool = '', version } = check.steps[at] ?? {};
    return {
      ...{ ...step, title, server: server?.name ?? '', tool },
      ...{ state: 'pending', startedAt: null, endedAt: null, mayGoOn: false, given: {} },
      ...broughtTo(step.key, brought),
      ...(version !== undefined && { blockVersion: version }),
    };
  });
}

/** The steps that have not succeeded, with what is brought to them over what was before. */
export function leftOf({ steps, done }: Pick<Run, 'steps' | 'done'>, brought: SetCheckRequest): KeptStep[] {
  return steps.slice(done).map((step) => ({ ...step, ...broughtTo(step.key, brought, step) }));
}

/**
 * RUN_BLOCK_CHANGED unless the blocks are still those with which the run began: whoever may edit one decides what it fixes. Steps
 * of earlier releases take the one that is there.
 */
export function sameBlocks(steps: readonly KeptStep[], check: SetCheckView): KeptStep[] {
  return steps.map((step, at) => {
    const version = check.steps[at]?.version;
    if (version === undefined) return step;
    const { blockVersion = version } = step;
    if (blockVersion !== version) throw new GatewayError('RUN_BLOCK_CHANGED');
    return { ...step, blockVersion };
  });
}

/** All that steps are brought by now, by their keys. */
export function allOf(steps: readonly KeptStep[], { inputs, credentials }: SetCheckRequest): SetCheckRequest {
  return {
    inputs: { ...inputs, ...Object.fromEntries(steps.map(({ key, given }) => [key, given])) },
    credentials: {
      ...credentials,
      ...Object.fromEntries(
        steps.flatMap(({ key, credential }) => (credential === undefined ? [] : [[key, credential]])),
      ),
    },
  };
}

function broughtTo(
  key: string,
  { inputs, credentials }: SetCheckRequest,
  before?: Pick<KeptStep, 'given' | 'credential'>,
): Pick<KeptStep, 'given' | 'credential'> {
  const credential = ownOf(credentials, key) ?? before?.credential;
  return {
    given: { ...before?.given, ...ownOf(inputs, key) },
    ...(credential !== undefined && { credential }),
  };
}

export function requireRoom(steps: readonly KeptStep[]): void {
  const size = steps.reduce((sum, { given, inputs }) => sum + JSON.stringify([given, inputs]).length, 0);
  if (size > LARGEST_GIVEN) throw new GatewayError('REQUEST_TOO_LARGE');
}
