import { z } from 'zod';
import { errorCodes } from '../errors/codes.ts';
import { Diagnostic } from '../errors/diagnostic.ts';
import { BlockRunRequest, CheckedBlock, MissingParts } from './blocks.ts';

const title = z.string().trim().min(1).max(200);
const description = z.string().max(4_096);
const values = z.record(z.string().max(256), z.unknown());
const value = z.unknown().refine((input) => input !== undefined, 'is required');
const label = z.string().min(1).max(64);
const id = z.string().min(1).max(256);

export const MAX_STEPS = 20;

/** What a step is called by the steps after it, and by who runs the set. It stays when steps change places. */
export const StepKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'contains other characters than A-Z a-z 0-9 _ -');

/** RFC 6901. Empty: the whole. */
export const JsonPointer = z
  .string()
  .max(1_024)
  .regex(/^(\/([^~/]|~[01])*)*$/, 'is not a JSON pointer');

/**
 * What a set brings to an input of a step; of others the block decides. `fixed`: always this value. `from`: what stands at
 * `pointer` in the output of an earlier step. The output of a step is the `structuredContent` of its result; of a result that
 * has none, the text of its content: the object or list that it says as JSON, or else the text itself.
 */
export const StepInput = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('fixed'), value }),
  z.strictObject({ mode: z.literal('from'), step: StepKey, pointer: JsonPointer }),
]);
export type StepInput = z.infer<typeof StepInput>;

export const SetStep = z.strictObject({
  key: StepKey,
  /** The id of a block. */
  block: id,
  inputs: z
    .record(z.string().min(1).max(256), StepInput)
    .refine((inputs) => Object.keys(inputs).length <= 200, 'has more than 200 inputs')
    .default({}),
});
export type SetStep = z.infer<typeof SetStep>;

/** In the order in which they run. A key stands for one step, and an input takes from a step before its own. */
export const SetSteps = z
  .array(SetStep)
  .min(1)
  .max(MAX_STEPS)
  .superRefine((steps, context) => {
    const earlierKeys = new Set<string>();
    steps.forEach(({ key, inputs }, index) => {
      for (const [name, input] of Object.entries(inputs)) {
        if (input.mode !== 'from' || earlierKeys.has(input.step)) continue;
        const path = [index, 'inputs', name, 'step'];
        context.addIssue({ code: 'custom', path, message: 'is not the key of an earlier step' });
      }
      if (earlierKeys.has(key))
        context.addIssue({ code: 'custom', path: [index, 'key'], message: 'occurs twice' });
      earlierKeys.add(key);
    });
  });
export type SetSteps = z.infer<typeof SetSteps>;

/** `POST /api/mcp/sets`. */
export const SetRequest = z.strictObject({ title, description: description.optional(), steps: SetSteps });
export type SetRequest = z.infer<typeof SetRequest>;

/** `PATCH /api/mcp/sets/:id`. `steps` replaces all of them. */
export const SetChange = z
  .strictObject({
    title: title.optional(),
    description: description.nullable().optional(),
    steps: SetSteps.optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'contains no change');
export type SetChange = z.infer<typeof SetChange>;

/** The query of `GET /api/mcp/sets`, and of the list of runs. */
export const SetsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).optional(),
  /** The last id of the page before. */
  after: id.optional(),
});
export type SetsQuery = z.infer<typeof SetsQuery>;

/** `GET /api/mcp/sets/:id`. */
export const SetView = z.strictObject({
  id: z.string(),
  title: z.string(),
  description: z.string().optional(),
  steps: z.array(SetStep),
  /** The id of the user who made it. */
  owner: z.string(),
  version: z.number().int(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** The bits of the caller: VIEW 1, EDIT 2, DELETE 4, SHARE 8. Who may see it may run it, with blocks of their own access. */
  permissions: z.number().int(),
});
export type SetView = z.infer<typeof SetView>;

/** `GET /api/mcp/sets`, in the order of their ids. */
export const SetsView = z.object({ sets: z.array(SetView), next: z.string().nullable() });
export type SetsView = z.infer<typeof SetsView>;

/** What is kept of a set, sealed. */
export const StoredSet = z.strictObject({ title, description: description.optional(), steps: SetSteps });
export type StoredSet = z.infer<typeof StoredSet>;

const runInputs = {
  /** By the key of the step. */
  inputs: z.record(StepKey, values).default({}),
  /** Which of the caller's credentials at the server of a step; by default their default or only one. */
  credentials: z.record(StepKey, label).default({}),
};

/** `POST /api/mcp/sets/:id/check`: what the run would bring. */
export const SetCheckRequest = z.strictObject(runInputs);
export type SetCheckRequest = z.infer<typeof SetCheckRequest>;

/** One step, as its block would be checked. `drift`, `credentials` and the rest are those of blocks. */
export const CheckedStep = CheckedBlock.extend({
  step: z.string(),
  /** Of the block, as it was looked at. */
  version: z.number().int().optional(),
});
export type CheckedStep = z.infer<typeof CheckedStep>;

/** In the order of the steps. `missing` names the steps that wait as `step` and `steps`, beside the ids of their blocks. */
export const SetCheckView = z.object({
  runs: z.boolean(),
  steps: z.array(CheckedStep),
  missing: MissingParts,
});
export type SetCheckView = z.infer<typeof SetCheckView>;

/** `POST /api/mcp/sets/:id/run`, with `If-Match` only if it is that version. 202 with the run, which goes on; with `Accept: text/event-stream` the events of it. */
export const SetRunRequest = z.strictObject({
  ...runInputs,
  /** The versions of the blocks that the caller has read, by the key of the step: of these no other is run. */
  blocks: z.record(StepKey, z.number().int()).default({}),
  request: BlockRunRequest.shape.request,
});
export type SetRunRequest = z.infer<typeof SetRunRequest>;

/** `POST /api/mcp/runs/:runId/resume`: over what the run brought, for steps that have not run. */
export const RunResumeRequest = z.strictObject(runInputs);
export type RunResumeRequest = z.infer<typeof RunResumeRequest>;

/**
 * `running`: a replica is at it. `waiting`: for a sign-in or an approval of its user. `interrupted`: the replica that was at it is
 * gone. `uncertain`: of a step nobody knows whether it ran, and it is not repeated. `failed`, `cancelled` and `succeeded` are
 * ends; whether a run can go on from where it is says `resumable`.
 */
export const runStates = [
  'running',
  'waiting',
  'interrupted',
  'uncertain',
  'failed',
  'cancelled',
  'succeeded',
] as const;
export type RunState = (typeof runStates)[number];

export const stepStates = ['pending', 'running', 'waiting', 'uncertain', 'failed', 'succeeded'] as const;
export type StepState = (typeof stepStates)[number];

/** Why a step waits: for its user to sign in at a server, or to approve the call. */
export const StepWait = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('sign_in'),
    server: z.string(),
    reason: z.string(),
    /** A page of ours where it is done. */
    connectUrl: z.string(),
  }),
  z.object({ kind: z.literal('approval'), id: z.string(), expiresAt: z.number() }),
]);
export type StepWait = z.infer<typeof StepWait>;

/** What a tool answered: the server's texts are data, never markup. */
const result = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

export const RunStepView = z.object({
  key: z.string(),
  block: z.string(),
  /** Of the block, its server and its tool, as they were when the step was last looked at. */
  title: z.string(),
  server: z.string(),
  tool: z.string(),
  state: z.enum(stepStates),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
  /** Why it failed, waits, or is uncertain. */
  code: z.enum(errorCodes).optional(),
  errors: z.array(Diagnostic).optional(),
  wait: StepWait.optional(),
  result: result.optional(),
  /** The result was too large to be kept: no later step can take anything from it. */
  isResultLost: z.literal(true).optional(),
});
export type RunStepView = z.infer<typeof RunStepView>;

const run = {
  id: z.string(),
  /** The id of the set, and what it was called when the run began. */
  set: z.string(),
  title: z.string(),
  state: z.enum(runStates),
  /** A cancellation is on its way to the replica that runs it. */
  isCancelling: z.boolean(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** When it is thrown away. */
  expiresAt: z.number(),
};

export const RunSummary = z.object({ ...run, done: z.number().int(), total: z.number().int() });
export type RunSummary = z.infer<typeof RunSummary>;

/** `GET /api/mcp/sets/:id/runs`: the caller's own, the latest first. */
export const RunsView = z.object({ runs: z.array(RunSummary), next: z.string().nullable() });
export type RunsView = z.infer<typeof RunsView>;

/** `GET /api/mcp/runs/:runId`: for who ran it, and for nobody else. */
export const RunView = z.object({
  ...run,
  /** Whether `resume` takes it: from the first step that has not succeeded. */
  resumable: z.boolean(),
  steps: z.array(RunStepView),
});
export type RunView = z.infer<typeof RunView>;

/**
 * The events of a run: `run` (RunView) when it begins, `step` (RunStepView) whenever one begins or ends, `progress` (RunProgress) as
 * the server of a step tells it, and at last `result` (RunView), however the run ended; or `error` (Problem).
 */
export const runEvents = ['run', 'step', 'progress', 'result', 'error'] as const;
export type RunEventName = (typeof runEvents)[number];

export const RunProgress = z.looseObject({
  step: z.string(),
  progress: z.number().optional(),
  total: z.number().optional(),
  message: z.string().optional(),
});
export type RunProgress = z.infer<typeof RunProgress>;

/** A step of a run, as it is kept. */
export const StoredStep = RunStepView.extend({
  /** Of one that failed or is uncertain: nothing ran, or its tool may run again. */
  mayGoOn: z.boolean(),
  inputs: SetStep.shape.inputs,
  providedInputs: values,
  credential: label.optional(),
  /** Of the block when the run began: another is not run. Runs of earlier releases have none. */
  blockVersion: z.number().int().optional(),
});
export type StoredStep = z.infer<typeof StoredStep>;

/** What is kept of a run, sealed. */
export const StoredRun = z.strictObject({
  title: z.string(),
  steps: z.array(StoredStep),
  request: BlockRunRequest.shape.request,
});
export type StoredRun = z.infer<typeof StoredRun>;
