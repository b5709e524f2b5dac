import type {
  BlockCheckRequest,
  BlockCheckView,
  CheckedBlock,
  Diagnostic,
  MissingInput,
  SchemaDrift,
  SetCheckRequest,
  SetCheckView,
  SetStep,
} from '@behalf/contracts';
import { withTimeout } from '@behalf/kernel';
import { type AllowedServer, checkAccess } from '../access/allowedServer.ts';
import { createTokenRequestBudget } from '../credentials/obo/bearer.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { stableStringify } from '../servers/fields.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { loadTools } from '../toolcall/list.ts';
import { connectPagePath, getSignInReason } from '../toolcall/outcome.ts';
import { prepareCredential } from '../toolcall/send.ts';
import type { CatalogTool } from '../tools/catalog.ts';
import { decideTool } from '../tools/policy.ts';
import { toGatewayError } from '../upstream/toGatewayError.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { findMissingInputs, gatherInputs, getSchemaProperties, validateSavedInputs } from './inputs.ts';
import {
  type BlockPrerequisite,
  type CredentialReadiness,
  type Prerequisite,
  getCredentialReadiness,
  groupPrerequisites,
} from './readiness.ts';
import { type RunBlockParts, findCachedTool } from './runBlock.ts';
import type { ViewSetParts } from './runs.ts';
import { findVisibleSaved, requireSaved } from './saved.ts';
import { type SavedBlock, getBlockCollection, getSetCollection } from './store.ts';
import { describeBlockServer } from './view.ts';

/** What one block came to, and what it waits for. */
interface BlockCheckResult {
  readonly view: CheckedBlock;
  readonly inputs: readonly MissingInput[];
  readonly prerequisites: readonly BlockPrerequisite[];
}

/**
 * Whether blocks would run for the caller now, and what all of them together wait for. Nothing runs; no server is asked for more
 * than its list of tools, and of a block that waits for something not even that.
 */
export async function checkBlocks(
  parts: RunBlockParts,
  inbound: Inbound,
  { ids, inputs, credentials }: BlockCheckRequest,
): Promise<BlockCheckView> {
  const { principal } = inbound;
  parts.roles.requirePermission(principal, 'USE');
  const checks = await Promise.all(
    [...new Set(ids)].map(async (id): Promise<BlockCheckResult> => {
      const block = (await findVisibleSaved(parts, getBlockCollection(parts), principal, id))?.resource;
      if (!block) return { view: { id, state: 'not_found', runs: false }, inputs: [], prerequisites: [] };
      const provided = Object.hasOwn(inputs, id) ? (inputs[id] ?? {}) : {};
      const credential = Object.hasOwn(credentials, id) ? credentials[id] : undefined;
      return checkBlock(parts, { ...inbound, credential }, block, { provided });
    }),
  );
  return {
    runs: checks.every(({ view }) => view.runs),
    blocks: checks.map(({ view }) => view),
    missing: {
      inputs: checks.flatMap((each) => each.inputs),
      credentials: groupPrerequisites(
        parts,
        principal,
        checks.flatMap((each) => each.prerequisites),
      ),
    },
  };
}

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

/** How long one server may take before the answer goes out without its tools. */
const LIST_TIMEOUT_MS = 5_000;

/** What a run would bring. */
interface ProvidedInputs {
  readonly provided: JsonObject;
  /** The names of inputs whose values earlier steps will bring: they are not missing, and cannot be judged yet. */
  readonly deferred?: readonly string[];
}

/** One block, by the questions that its run would ask, in their order. */
async function checkBlock(
  parts: RunBlockParts,
  inbound: Inbound,
  block: SavedBlock,
  { provided, deferred = [] }: ProvidedInputs,
): Promise<BlockCheckResult> {
  const { principal } = inbound;
  const { id, title, tool: toolName } = block;
  const identity = { id, title, tool: toolName, server: describeBlockServer(parts, principal, block) };
  const stopWith = (rest: Pick<CheckedBlock, 'state'> & Partial<CheckedBlock>): BlockCheckResult => ({
    view: { ...identity, ...rest, runs: false },
    ...{ inputs: [], prerequisites: [] },
  });
  const knownServer = parts.registry.get(principal.tenant, block.serverId);
  if (!knownServer) return stopWith({ state: 'server_gone', code: 'BLOCK_SERVER_GONE' });
  if (!parts.acl.canUse(principal, knownServer))
    return stopWith({ state: 'no_access', code: 'BLOCK_SERVER_FORBIDDEN' });
  const server = checkAccess(parts.callParts, principal, knownServer, 'BLOCK_SERVER_FORBIDDEN');

  let args: JsonObject;
  let readiness: CredentialReadiness;
  try {
    args = gatherInputs(block, provided);
    readiness = await getCredentialReadiness(parts.readinessParts, server, principal, inbound.credential);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, errors } = error;
    return stopWith({ state: 'broken', code, ...(errors && { errors: [...errors] }) });
  }

  const findMissing = ({ inputSchema }: Pick<SavedBlock, 'inputSchema'>) =>
    findMissingInputs(id, inputSchema, args).filter(({ name }) => !deferred.includes(name));
  const cachedTool = findCachedTool(parts, server, principal, block);
  const prerequisites: Prerequisite[] = [...readiness.missing];
  let tool = cachedTool;
  let failure: GatewayError | undefined;
  if (prerequisites.length === 0 && findMissing(cachedTool ?? block).length === 0) {
    const lookup = await lookUpTool(
      parts,
      server,
      { ...inbound, credential: readiness.selected ?? undefined },
      block,
    );
    if (lookup.kind === 'tools') tool = lookup.tool;
    else if (lookup.kind === 'sign_in') prerequisites.push(lookup.prerequisite);
    else failure = lookup.failure;
    if (lookup.kind === 'tools' && !(tool && isAvailableToCaller(parts, inbound, server, tool))) {
      return stopWith({ state: 'tool_gone', code: 'MCP_TOOL_NOT_FOUND' });
    }
  }

  const inputs = findMissing(tool ?? block);
  const isWaiting = inputs.length > 0 || prerequisites.length > 0;
  const isPartial = isWaiting || deferred.length > 0;
  const errors = tool && findProblems(parts, server, block, tool, { args, isPartial });
  const state = errors ? 'broken' : isWaiting ? 'incomplete' : failure ? 'unknown' : 'ready';
  const drift = tool && findDrift(block, tool);
  const { choices, selected, mayGoWithout } = readiness;
  return {
    view: {
      ...identity,
      state,
      runs: state === 'ready',
      ...(state === 'unknown' && failure && { code: failure.code }),
      ...(errors && { errors }),
      ...(drift && { drift }),
      credentials: { choices: [...choices], selected, mayGoWithout },
    },
    inputs,
    prerequisites: prerequisites.map((prerequisite) => ({ block: id, server, prerequisite })),
  };
}

type ToolLookup =
  | { readonly kind: 'tools'; readonly tool: CatalogTool | undefined }
  | { readonly kind: 'sign_in'; readonly prerequisite: Prerequisite }
  | { readonly kind: 'failed'; readonly failure: GatewayError };

/** The list of tools, asked for only when it is not known or was for too long. */
async function lookUpTool(
  { callParts }: RunBlockParts,
  server: AllowedServer,
  inbound: Inbound,
  block: SavedBlock,
): Promise<ToolLookup> {
  const budget = createTokenRequestBudget();
  const obtain = (signal = inbound.signal) =>
    prepareCredential(callParts, server, { ...inbound, signal }, { budget });
  try {
    const list = await withTimeout(
      callParts.clock,
      LIST_TIMEOUT_MS,
      loadTools(callParts, server, obtain, inbound),
      () => {
        throw new UpstreamError('connect_timeout');
      },
    );
    return { kind: 'tools', tool: list.find(block.tool) };
  } catch (error) {
    if (inbound.signal.aborted) throw error;
    const reason = getSignInReason(error, server);
    if (reason !== undefined) {
      const { name, settings } = server;
      const serverFields = {
        server: name,
        title: settings.title ?? name,
        connectUrl: connectPagePath(server),
      };
      return { kind: 'sign_in', prerequisite: { kind: 'sign_in', ...serverFields, reason } };
    }
    const failure = toGatewayError(error, server.name);
    if (failure instanceof GatewayError) return { kind: 'failed', failure };
    throw failure;
  }
}

function isAvailableToCaller(
  { callParts }: RunBlockParts,
  { principal }: Inbound,
  server: AllowedServer,
  tool: CatalogTool,
) {
  const decision = decideTool(callParts.policy(), principal, server, tool);
  // A program has nobody who could approve.
  return decision !== 'absent' && (decision !== 'ask' || principal.kind === 'user');
}

/** Whether what is saved, and what was given besides, still fits the tool. */
function findProblems(
  { callParts }: RunBlockParts,
  server: AllowedServer,
  block: SavedBlock,
  tool: CatalogTool,
  { args, isPartial }: { readonly args: JsonObject; readonly isPartial: boolean },
): Diagnostic[] | undefined {
  const identity = { serverId: server.id, toolName: tool.name };
  const savedErrors = validateSavedInputs(callParts.arguments, identity, tool.inputSchema, block.inputs);
  const argumentErrors = isPartial ? null : callParts.arguments.validate(identity, tool.inputSchema, args);
  return savedErrors ?? argumentErrors ?? undefined;
}

function findDrift(block: SavedBlock, tool: CatalogTool): CheckedBlock['drift'] {
  const input = findSchemaDrift(block.inputSchema, tool.inputSchema);
  const output = findSchemaDrift(block.outputSchema, tool.outputSchema);
  return input || output ? { ...(input && { input }), ...(output && { output }) } : undefined;
}

/** What became of a schema since it was saved; undefined: nothing did. */
function findSchemaDrift(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): SchemaDrift | undefined {
  if (stableStringify(before) === stableStringify(after)) return undefined;
  const [oldProperties, newProperties] = [
    getSchemaProperties(before ?? {}),
    getSchemaProperties(after ?? {}),
  ];
  const [requiredBefore, requiredAfter] = [readRequired(before), readRequired(after)];
  return {
    added: Object.keys(newProperties).filter((name) => !Object.hasOwn(oldProperties, name)),
    removed: Object.keys(oldProperties).filter((name) => !Object.hasOwn(newProperties, name)),
    changed: Object.keys(newProperties).filter(
      (name) =>
        Object.hasOwn(oldProperties, name) &&
        stableStringify(oldProperties[name]) !== stableStringify(newProperties[name]),
    ),
    required: requiredAfter.filter((name) => !requiredBefore.includes(name)),
    optional: requiredBefore.filter((name) => !requiredAfter.includes(name)),
    other: stableStringify(withoutProperties(before)) !== stableStringify(withoutProperties(after)),
  };
}

function readRequired(schema: JsonObject | undefined): string[] {
  const required = schema?.['required'];
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

function withoutProperties(schema: JsonObject | undefined): JsonObject | undefined {
  if (schema === undefined) return undefined;
  const { properties: _properties, required: _required, ...others } = schema;
  return others;
}
