import type { JsonObject } from './upstream.ts';

/** The extension by which a server answers a call with a task, to be asked after later. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** As a client declares it with a request, and as a server advertises it. */
export const tasksCapability: JsonObject = { extensions: { [TASKS_EXTENSION]: {} } };

export type TaskMethod = 'tasks/get' | 'tasks/update' | 'tasks/cancel';

const taskMethods: ReadonlySet<string> = new Set<TaskMethod>(['tasks/get', 'tasks/update', 'tasks/cancel']);

export function isTaskMethod(method: string): boolean {
  return taskMethods.has(method);
}

/** Whether these capabilities name it, of whichever side. */
export function hasTasksCapability({ extensions }: JsonObject): boolean {
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
