import type {
  BlockCheckRequest,
  BlockCheckView,
  CheckedBlock,
  MissingInput,
  MissingParts,
  SchemaDrift,
  SetCheckRequest,
  SetCheckView,
  SetStep,
} from '@behalf/contracts';
import { withTimeout, stableStringify } from '@behalf/kernel';
import { type AllowedServer, checkAccess } from '../access/allowedServer.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { loadCallerTools } from '../toolcall/list.ts';
import { connectPagePath, getSignInReason } from '../toolcall/outcome.ts';
import type { CatalogTool } from '../tools/catalog.ts';
import { decideTool } from '../tools/policy.ts';
import { toGatewayError } from '../upstream/toGatewayError.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import {
  findMissingInputs,
  gatherInputs,
  getOwn,
  getSchemaProperties,
  mergeStepInputs,
  readRequired,
  validateSavedInputs,
} from './inputs.ts';
import {
  type BlockPrerequisite,
  type CredentialReadiness,
  type Prerequisite,
  getCredentialReadiness,
  groupPrerequisites,
} from './readiness.ts';
import { type BlockParts, findBlockToRun, findCachedTool } from './runBlock.ts';
import type { SetParts } from './runs.ts';
import type { SavedBlock } from './store.ts';
import { describeBlockServer } from './view.ts';

/** The result for one block or step, and its missing prerequisites. */
interface BlockCheckResult {
  readonly view: CheckedBlock;
  readonly inputs: readonly MissingInput[];
  readonly prerequisites: readonly BlockPrerequisite[];
}

const notFound = (id: string): BlockCheckResult => ({
  view: { id, state: 'not_found', runs: false },
  ...{ inputs: [], prerequisites: [] },
});

/**
 * Whether the blocks would run for the caller now, and the prerequisites of all of them together. Nothing runs. A check lists the
 * tools of a server at most, and not even that while prerequisites are missing.
 */
export async function checkBlocks(
  parts: BlockParts,
  inbound: Inbound,
  { ids, inputs, credentials }: BlockCheckRequest,
): Promise<BlockCheckView> {
  const { principal } = inbound;
  parts.roles.requirePermission(principal, 'USE');
  const checks = await Promise.all(
    [...new Set(ids)].map(async (id) => {
      const block = await findBlockToRun(parts, principal, id);
      if (!block) return notFound(id);
      const request = { ...inbound, credential: getOwn(credentials, id) };
      return checkBlock(parts, request, block, { provided: getOwn(inputs, id) ?? {} });
    }),
  );
  return {
    runs: checks.every(({ view }) => view.runs),
    blocks: checks.map(({ view }) => view),
    missing: collectMissing(parts, principal, checks),
  };
}

function collectMissing(
  parts: BlockParts,
  principal: Principal,
  checks: readonly BlockCheckResult[],
): MissingParts {
  const prerequisites = checks.flatMap((check) => check.prerequisites);
  return {
    inputs: checks.flatMap(({ inputs }) => inputs),
    credentials: groupPrerequisites(parts, principal, prerequisites),
  };
}

/** Whether the set would run for the caller now, and the prerequisites of all steps together. Nothing runs. */
export async function checkSet(
  parts: SetParts,
  inbound: Inbound,
  id: string,
  request: SetCheckRequest,
): Promise<SetCheckView> {
  const { resource } = await parts.sets.require(inbound.principal, id);
  return checkSteps(parts, inbound, resource.steps, request);
}

export async function checkSteps(
  parts: BlockParts,
  inbound: Inbound,
  steps: readonly SetStep[],
  request: SetCheckRequest,
): Promise<SetCheckView> {
  const unknownSteps = findUnknownSteps(steps, request);
  if (unknownSteps.length > 0) throw new GatewayError('REQUEST_INVALID', { errors: unknownSteps });
  const checks = await Promise.all(
    steps.map(async (step) => {
      const block = await findBlockToRun(parts, inbound.principal, step.block);
      const result = block ? await checkStep(parts, inbound, step, { block, request }) : notFound(step.block);
      return {
        step: { step: step.key, ...result.view, ...(block && { version: block.version }) },
        view: result.view,
        inputs: result.inputs.map((input) => ({ ...input, step: step.key })),
        prerequisites: result.prerequisites.map((entry) => ({ ...entry, step: step.key })),
      };
    }),
  );
  return {
    runs: checks.every(({ view }) => view.runs),
    steps: checks.map(({ step }) => step),
    missing: collectMissing(parts, inbound.principal, checks),
  };
}

async function checkStep(
  parts: BlockParts,
  inbound: Inbound,
  step: SetStep,
  { block, request }: { readonly block: SavedBlock; readonly request: SetCheckRequest },
): Promise<BlockCheckResult> {
  try {
    const provided = mergeStepInputs(step, getOwn(request.inputs, step.key) ?? {});
    const deferred = Object.keys(step.inputs).filter((name) => step.inputs[name]?.mode === 'from');
    const credential = getOwn(request.credentials, step.key);
    return await checkBlock(parts, { ...inbound, credential }, block, { provided, deferred });
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'BLOCK_INPUTS_INVALID') throw error;
    const { id, title, tool } = block;
    const errors = [...(error.errors ?? [])];
    const view = { id, title, tool, state: 'broken', runs: false, code: error.code, errors } as const;
    return { view, inputs: [], prerequisites: [] };
  }
}

/** Inputs and credentials for a step key that does not exist, or whose step has already run. */
function findUnknownSteps(steps: readonly SetStep[], { inputs, credentials }: SetCheckRequest) {
  const keys = new Set(steps.map(({ key }) => key));
  return Object.entries({ inputs, credentials }).flatMap(([field, record]) =>
    Object.keys(record)
      .filter((key) => !keys.has(key))
      .map((key) => ({
        ...{ path: `${field}.${key}`, code: 'unknown_step', message: 'is not a remaining step of this run' },
      })),
  );
}

/** How long one server may take to list its tools. */
const LIST_TIMEOUT_MS = 5_000;

/** Checks one block in the order of its run. `deferred`: inputs that earlier steps provide; they are neither missing nor checked. */
async function checkBlock(
  parts: BlockParts,
  inbound: Inbound,
  block: SavedBlock,
  { provided, deferred = [] }: { readonly provided: JsonObject; readonly deferred?: readonly string[] },
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
  const { choices, selected, mayGoWithout } = readiness;
  const prerequisites: Prerequisite[] = [...readiness.missing];
  let tool = findCachedTool(parts, server, principal, block);
  let failure: GatewayError | undefined;
  if (prerequisites.length === 0 && findMissing(tool ?? block).length === 0) {
    const lookup = await lookUpTool(parts, server, { ...inbound, credential: selected ?? undefined }, block);
    if (lookup.kind === 'sign_in') prerequisites.push(lookup.prerequisite);
    else if (lookup.kind === 'failed') failure = lookup.failure;
    else {
      tool = lookup.tool;
      if (!tool || !isAvailableToCaller(parts, principal, server, tool))
        return stopWith({ state: 'tool_gone', code: 'MCP_TOOL_NOT_FOUND' });
    }
  }

  const inputs = findMissing(tool ?? block);
  const isWaiting = inputs.length > 0 || prerequisites.length > 0;
  const isPartial = isWaiting || deferred.length > 0;
  const errors = tool && findProblems(parts, server, block, tool, isPartial ? null : args);
  const state = errors ? 'broken' : isWaiting ? 'incomplete' : failure ? 'unknown' : 'ready';
  const drift = tool && findDrift(block, tool);
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

/** Finds the tool in the server's list. Contacts the server only if the cached list is missing or too old. */
async function lookUpTool(
  { callParts }: BlockParts,
  server: AllowedServer,
  inbound: Inbound,
  block: SavedBlock,
): Promise<ToolLookup> {
  try {
    const loading = loadCallerTools(callParts, server, inbound);
    const list = await withTimeout(callParts.clock, LIST_TIMEOUT_MS, loading, () => {
      throw new UpstreamError('connect_timeout');
    });
    return { kind: 'tools', tool: list.find(block.tool) };
  } catch (error) {
    if (inbound.signal.aborted) throw error;
    const reason = getSignInReason(error, server);
    if (reason !== undefined) {
      const { name, settings } = server;
      const fields = { server: name, title: settings.title ?? name, connectUrl: connectPagePath(server) };
      return { kind: 'sign_in', prerequisite: { kind: 'sign_in', ...fields, reason } };
    }
    const failure = toGatewayError(error, server.name);
    if (failure instanceof GatewayError) return { kind: 'failed', failure };
    throw failure;
  }
}

/** A tool that requires an approval is not available to a service, because no user could approve it. */
function isAvailableToCaller(
  { callParts }: BlockParts,
  principal: Principal,
  server: AllowedServer,
  tool: CatalogTool,
): boolean {
  const decision = decideTool(callParts.policy(), principal, server, tool);
  return decision !== 'absent' && (decision !== 'ask' || principal.kind === 'user');
}

/** Whether the saved inputs still fit the tool. `args`: all arguments of the run; null while some are missing. */
function findProblems(
  { callParts }: BlockParts,
  server: AllowedServer,
  block: SavedBlock,
  tool: CatalogTool,
  args: JsonObject | null,
) {
  const identity = { serverId: server.id, toolName: tool.name };
  const savedErrors = validateSavedInputs(callParts.arguments, identity, tool.inputSchema, block.inputs);
  const argumentErrors = args && callParts.arguments.validate(identity, tool.inputSchema, args);
  return savedErrors ?? argumentErrors ?? undefined;
}

function findDrift(block: SavedBlock, tool: CatalogTool): CheckedBlock['drift'] {
  const input = findSchemaDrift(block.inputSchema, tool.inputSchema);
  const output = findSchemaDrift(block.outputSchema, tool.outputSchema);
  return input || output ? { ...(input && { input }), ...(output && { output }) } : undefined;
}

/** The changes of a schema since it was saved. Undefined: none. */
function findSchemaDrift(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): SchemaDrift | undefined {
  if (stableStringify(before) === stableStringify(after)) return undefined;
  const [oldProperties, newProperties] = [
    getSchemaProperties(before ?? {}),
    getSchemaProperties(after ?? {}),
  ];
  const [requiredBefore, requiredAfter] = [readRequired(before ?? {}), readRequired(after ?? {})];
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

function withoutProperties(schema: JsonObject | undefined): JsonObject | undefined {
  if (schema === undefined) return undefined;
  const { properties: _properties, required: _required, ...others } = schema;
  return others;
}
