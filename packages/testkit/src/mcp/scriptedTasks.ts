import { randomUUID } from 'node:crypto';
import {
  scriptedError,
  type ScriptedCall,
  type ScriptedOptions,
  type ScriptedTool,
} from './scriptedTypes.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export const TASKS = 'io.modelcontextprotocol/tasks';
/** As both sides say that they know it. */
export const tasksExtension = { extensions: { [TASKS]: {} } };
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** What a modern scripted server needs for tasks, and what a test does with them. */
export interface ScriptedTasks extends Pick<ScriptedOptions, 'capabilities' | 'methods'> {
  readonly era: 'modern';
  readonly tools: readonly ScriptedTool[];
  /** By the server's own id. What is written here is what the next `tasks/get` says. */
  readonly tasks: Map<string, JsonObject>;
  /** Responses that came, in order. */
  readonly responses: JsonObject[];
}

/** Whether the client declared the extension with this very request. */
export function declaresTasks({ params }: Pick<ScriptedCall, 'params'>): boolean {
  const meta = params['_meta'] as JsonObject | undefined;
  const declared = (meta?.[CAPABILITIES] as JsonObject | undefined)?.['extensions'] as JsonObject | undefined;
  return declared?.[TASKS] !== undefined;
}

/** A server whose tool `slow` becomes a task for who takes one; for others it answers at once. */
export function scriptedTasks(): ScriptedTasks {
  const tasks = new Map<string, JsonObject>();
  const responses: JsonObject[] = [];
  const createdAt = new Date(0).toISOString();

  function createTask(): JsonObject {
    const taskId = randomUUID();
    const task = {
      taskId,
      status: 'working',
      createdAt: createdAt,
      lastUpdatedAt: createdAt,
      ttlMs: 60_000,
      pollIntervalMs: 5,
    };
    tasks.set(taskId, task);
    return { ...task, resultType: 'task' };
  }

  function withTask(method: (task: JsonObject, params: JsonObject) => JsonObject) {
    return (params: JsonObject, call: ScriptedCall) => {
      if (!declaresTasks(call))
        throw scriptedError(-32021, 'Undeclared', { requiredCapabilities: tasksExtension }, 400);
      const task = tasks.get(String(params['taskId']));
      if (!task) throw scriptedError(-32602, 'Failed to retrieve task: Task not found');
      return method(task, params);
    };
  }

  return {
    era: 'modern',
    capabilities: { tools: {}, ...tasksExtension },
    tasks,
    responses,
    tools: [
      {
        name: 'slow',
        handler: (_args, call) =>
          declaresTasks(call) ? createTask() : { content: [{ type: 'text', text: 'at once' }] },
      },
      { name: 'echo' },
    ],
    methods: {
      'tasks/get': withTask((task) => task),
      'tasks/update': withTask((task, { taskId, inputResponses }) => {
        responses.push(inputResponses as JsonObject);
        const { inputRequests: _, ...rest } = task;
        tasks.set(String(taskId), { ...rest, status: 'working' });
        return {};
      }),
      'tasks/cancel': withTask((task, { taskId }) => {
        tasks.set(String(taskId), { ...task, status: 'cancelled' });
        return {};
      }),
    },
  };
}
