import { errorKinds, type ChatCall, type ChatProblem, type ErrorCode } from '@behalf/contracts';
import type { Random } from '@behalf/kernel';
import type { RequestedCall } from '../model/model.ts';
import type { OfferedTools } from './offeredTools.ts';

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
