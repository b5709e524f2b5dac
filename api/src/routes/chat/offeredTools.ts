import {
  type Authority,
  type ChatCall,
  type ChatProblem,
  type ErrorCode,
  errorKinds,
} from '@behalf/contracts';
import { type CatalogTool, type ServerSnapshot, type ServerTools, authorityOf } from '@behalf/gateway';
import type { Random } from '@behalf/kernel';
import {
  MAX_MODEL_TOOLS,
  MAX_TOOLS_LENGTH,
  MAX_TOOL_DESCRIPTION_LENGTH,
  MAX_TOOL_SCHEMA_LENGTH,
} from './limits.ts';
import type { ModelTool, RequestedCall } from './modelClient.ts';

const MAX_TITLE_LENGTH = 200;

/** A tool that the model was shown, with what is told about its calls. */
interface OfferedTool {
  readonly server: string;
  readonly serverTitle: string;
  readonly tool: string;
  readonly toolTitle?: string;
  readonly authority: Authority;
}

export interface OfferedTools {
  readonly tools: readonly ModelTool[];
  /** The user has more than a model can be shown. */
  readonly isTruncated: boolean;
  /** Names of servers that show nothing before the user has signed in there or filled something in. */
  readonly unavailableServers: readonly string[];
  /** By the name that models use. */
  readonly find: (publicName: string) => OfferedTool | undefined;
  /** The name towards the model of a tool that was called in an earlier answer. */
  readonly nameOf: (server: string, tool: string) => string;
}

/** What a server says of its tools is passed on as it is, within bounds: it is sent again with every question. */
export function selectOfferedTools(toolsByServer: readonly ServerTools[]): OfferedTools {
  const tools: ModelTool[] = [];
  const byPublicName = new Map<string, OfferedTool>();
  const names = new Map<string, string>();
  let size = 0;
  let isTruncated = false;
  for (const { server, tools: serverTools } of toolsByServer) {
    for (const tool of serverTools) {
      const converted = modelTool(tool);
      size += JSON.stringify(converted).length;
      if (tools.length >= MAX_MODEL_TOOLS || size > MAX_TOOLS_LENGTH) {
        isTruncated = true;
        break;
      }
      tools.push(converted);
      byPublicName.set(tool.publicName, toOfferedTool(server, tool));
      names.set(JSON.stringify([server.name, tool.name]), tool.publicName);
    }
  }
  return {
    tools,
    isTruncated,
    unavailableServers: toolsByServer.filter(isUnavailable).map(({ server }) => sanitizeName(server.name)),
    find: (publicName) => byPublicName.get(publicName),
    nameOf: (server, tool) => names.get(JSON.stringify([server, tool])) ?? fallbackName(server, tool),
  };
}

function toOfferedTool(server: ServerSnapshot, { name, title }: CatalogTool): OfferedTool {
  const { settings } = server;
  return {
    server: server.name,
    serverTitle: settings.title ?? server.name,
    tool: name,
    ...(title !== undefined && { toolTitle: title.slice(0, MAX_TITLE_LENGTH) }),
    authority: authorityOf(server),
  };
}

function modelTool({ publicName, description, title, inputSchema }: CatalogTool): ModelTool {
  const isLarge = JSON.stringify(inputSchema).length > MAX_TOOL_SCHEMA_LENGTH;
  return {
    type: 'function',
    function: {
      name: publicName,
      description: (description ?? title ?? '').slice(0, MAX_TOOL_DESCRIPTION_LENGTH),
      // One without `properties` is refused by OpenAI. A call that does not fit the real one is told what is wrong.
      parameters: { type: 'object', properties: {}, ...(!isLarge && inputSchema) },
    },
  };
}

/** Of the letters and length that APIs take. It opens nothing: a call is looked up among what is offered now. */
function fallbackName(server: string, tool: string): string {
  return sanitizeName(`${tool}_${server}`);
}

function sanitizeName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

function isUnavailable({ state, tools }: ServerTools): boolean {
  return tools.length === 0 && (state === 'needs_authorization' || state === 'needs_configuration');
}

/** A call as it is shown, before anything is done. One that cannot be made is told to the model, which can do better. */
export interface PreparedCall {
  readonly call: ChatCall;
  /** What the model reads instead of a result. */
  readonly errorText: string | undefined;
}

const MAX_NAME_LENGTH = 200;

/** What the calls of one answer may still send in arguments, in characters. */
export interface ArgumentBudget {
  remaining: number;
}

export function prepareCall(
  { name, args: text }: RequestedCall,
  tools: Pick<OfferedTools, 'find'>,
  random: Random,
  budget: ArgumentBudget,
): PreparedCall {
  const tool = tools.find(name);
  const call: ChatCall = {
    callId: newCallId(random),
    ...(tool ?? { server: '', serverTitle: '', tool: name.slice(0, MAX_NAME_LENGTH) }),
    arguments: {},
    state: 'running',
  };
  if (budget.remaining < text.length) {
    return rejectCall(
      call,
      'MCP_ARGUMENTS_INVALID',
      'The arguments in this answer exceed the limit. Send less, or answer with the results so far.',
    );
  }
  budget.remaining -= text.length;
  const args = readArguments(text);
  if (args) call.arguments = args;
  if (!tool) {
    return rejectCall(
      call,
      'MCP_TOOL_NOT_FOUND',
      'There is no tool with this name. Use one of the tools you were given.',
    );
  }
  if (!args) {
    return rejectCall(
      call,
      'MCP_ARGUMENTS_INVALID',
      'The arguments are not a JSON object, or contain the key `__proto__`. Send a JSON object without this key.',
    );
  }
  return { call, errorText: undefined };
}

function rejectCall(call: ChatCall, code: ErrorCode, errorText: string): PreparedCall {
  const problem: ChatProblem = { code, title: errorKinds[code].title, detail: errorText };
  return { call: { ...call, state: 'failed', problem }, errorText };
}

/** Whoever copies the arguments by assignment would change what an object is, and not the argument. */
function rejectProtoKey(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('Invalid argument name');
  return value;
}

/** Models send nothing at all where there are no arguments. */
function readArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text, rejectProtoKey);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Mistral takes no id of another form. It tells calls of one conversation apart, and opens nothing. */
const ID_LENGTH = 9;

function newCallId(random: Random): string {
  return Array.from(random.bytes(ID_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}
