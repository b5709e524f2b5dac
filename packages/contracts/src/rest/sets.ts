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

/** The key by which later steps and runs refer to a step. It does not change when steps are reordered. */
export const StepKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'contains other characters than A-Z a-z 0-9 _ -');

/** RFC 6901. An empty pointer means the whole value. */
export const JsonPointer = z
  .string()
  .max(1_024)
  .regex(/^(\/([^~/]|~[01])*)*$/, 'is not a JSON pointer');

/**
 * The source of a step's input; for other inputs the block decides. `fixed`: always this value. `from`: the value
 * at `pointer` in the output of an earlier step. The output of a step is the `structuredContent` of its result.
 * Without it, the output is the text content, parsed as JSON if it is an object or array.
 */
export const StepInput = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('fixed'), value }),
  z.strictObject({ mode: z.literal('from'), step: StepKey, pointer: JsonPointer }),
]);
export type StepInput = z.infer<typeof StepInput>;

export const SetStep = z.strictObject({
  key: StepKey,
  /** The ID of a block. */
  block: id,
  inputs: z
    .record(z.string().min(1).max(256), StepInput)
    .refine((inputs) => Object.keys(inputs).length <= 200, 'has more than 200 inputs')
    .default({}),
});
export type SetStep = z.infer<typeof SetStep>;

/** In execution order. Keys are unique, and inputs refer only to earlier steps. */
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

/** `PATCH /api/mcp/sets/:id`. `steps` replaces all steps. */
export const SetChange = z
  .strictObject({
    title: title.optional(),
    description: description.nullable().optional(),
    steps: SetSteps.optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'contains no change');
export type SetChange = z.infer<typeof SetChange>;

/** The query of `GET /api/mcp/sets` and of the list of runs. */
export const SetsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).optional(),
  /** The last ID of the previous page. */
  after: id.optional(),
});
export type SetsQuery = z.infer<typeof SetsQuery>;

/** `GET /api/mcp/sets/:id`. */
export const SetView = z.strictObject({
  id: z.string(),
  title: z.string(),
  description: z.string().optional(),
  steps: z.array(SetStep),
  /** The ID of the user who created it. */
  owner: z.string(),
  version: z.number().int(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /**
   * The caller's permissions: VIEW 1, EDIT 2, DELETE 4, SHARE 8. VIEW includes running the set, with blocks that
   * the caller may use.
   */
  permissions: z.number().int(),
});
export type SetView = z.infer<typeof SetView>;

/** `GET /api/mcp/sets`, ordered by ID. */
export const SetsView = z.object({ sets: z.array(SetView), next: z.string().nullable() });
export type SetsView = z.infer<typeof SetsView>;

/** The encrypted content of a stored set. */
export const StoredSet = z.strictObject({ title, description: description.optional(), steps: SetSteps });
export type StoredSet = z.infer<typeof StoredSet>;

const runInputs = {
  /** By step key. */
  inputs: z.record(StepKey, values).default({}),
  /** The label of the caller's credential at the server of a step. Default: the default or only one. */
  credentials: z.record(StepKey, label).default({}),
};

/** `POST /api/mcp/sets/:id/check`, with the values of the planned run. */
export const SetCheckRequest = z.strictObject(runInputs);
export type SetCheckRequest = z.infer<typeof SetCheckRequest>;

/** A step, checked like its block. */
export const CheckedStep = CheckedBlock.extend({
  step: z.string(),
  /** The version of the block that was checked. */
  version: z.number().int().optional(),
});
export type CheckedStep = z.infer<typeof CheckedStep>;

/** In step order. `missing` names the affected steps in `step` and `steps`, in addition to block IDs. */
export const SetCheckView = z.object({
  runs: z.boolean(),
  steps: z.array(CheckedStep),
  missing: MissingParts,
});
export type SetCheckView = z.infer<typeof SetCheckView>;

/**
 * `POST /api/mcp/sets/:id/run`. With `If-Match`, only that version runs. Returns 202 and the started run, or its
 * events with `Accept: text/event-stream`.
 */
export const SetRunRequest = z.strictObject({
  ...runInputs,
  /** The block versions that the caller has read, by step key. The run fails if a block has another version. */
  blocks: z.record(StepKey, z.number().int()).default({}),
  request: BlockRunRequest.shape.request,
});
export type SetRunRequest = z.infer<typeof SetRunRequest>;

/** `POST /api/mcp/runs/:runId/resume`: overrides values of the run for steps that have not run. */
export const RunResumeRequest = z.strictObject(runInputs);
export type RunResumeRequest = z.infer<typeof RunResumeRequest>;

/**
 * - `running`: a replica is working on it.
 * - `waiting`: for a sign-in or approval by the user.
 * - `interrupted`: the replica that worked on it is gone.
 * - `uncertain`: it is unknown whether a step ran. The step is not repeated.
 * - `failed`, `cancelled`, `succeeded`: ended. `resumable` says whether the run can continue.
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

/** Why a step waits: the user must sign in at a server or approve the call. */
export const StepWait = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('sign_in'),
    server: z.string(),
    reason: z.string(),
    /** A page of the gateway for this. */
    connectUrl: z.string(),
  }),
  z.object({ kind: z.literal('approval'), id: z.string(), expiresAt: z.number() }),
]);
export type StepWait = z.infer<typeof StepWait>;

/** The result of a tool. Its texts come from the server: data, never markup. */
const result = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

export const RunStepView = z.object({
  key: z.string(),
  block: z.string(),
  /** Titles of block, server and tool when the step was last checked. */
  title: z.string(),
  server: z.string(),
  tool: z.string(),
  state: z.enum(stepStates),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
  /** Why the step failed, waits or is uncertain. */
  code: z.enum(errorCodes).optional(),
  errors: z.array(Diagnostic).optional(),
  wait: StepWait.optional(),
  result: result.optional(),
  /** The result was too large to store. Later steps cannot use it. */
  isResultLost: z.literal(true).optional(),
});
export type RunStepView = z.infer<typeof RunStepView>;

const run = {
  id: z.string(),
  /** The ID of the set, and its title when the run started. */
  set: z.string(),
  title: z.string(),
  state: z.enum(runStates),
  /** A cancellation was requested, and the worker has not stopped yet. */
  isCancelling: z.boolean(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** When the run is deleted. */
  expiresAt: z.number(),
};

export const RunSummary = z.object({ ...run, done: z.number().int(), total: z.number().int() });
export type RunSummary = z.infer<typeof RunSummary>;

/** `GET /api/mcp/sets/:id/runs`: the caller's own runs, the latest first. */
export const RunsView = z.object({ runs: z.array(RunSummary), next: z.string().nullable() });
export type RunsView = z.infer<typeof RunsView>;

/** `GET /api/mcp/runs/:runId`. Only the user who started the run can read it. */
export const RunView = z.object({
  ...run,
  /** Whether `resume` can continue from the first step that has not succeeded. */
  resumable: z.boolean(),
  steps: z.array(RunStepView),
});
export type RunView = z.infer<typeof RunView>;

/**
 * The events of a run: `run` (RunView) at the start, `step` (RunStepView) when a step starts or ends, `progress`
 * (RunProgress) from the server of a step, and finally `result` (RunView) or `error` (Problem).
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

/** A stored step of a run. */
export const StoredStep = RunStepView.extend({
  /** For a failed or uncertain step: nothing ran, or the tool may run again. */
  mayGoOn: z.boolean(),
  inputs: SetStep.shape.inputs,
  providedInputs: values,
  credential: label.optional(),
  /** The version of the block when the run started. Another version is not run. Absent in runs of earlier releases. */
  blockVersion: z.number().int().optional(),
});
export type StoredStep = z.infer<typeof StoredStep>;

/** The encrypted content of a stored run. */
export const StoredRun = z.strictObject({
  title: z.string(),
  steps: z.array(StoredStep),
  request: BlockRunRequest.shape.request,
});
export type StoredRun = z.infer<typeof StoredRun>;
