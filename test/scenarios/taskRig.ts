import { scriptedTasks, tasksExtension, type ScriptedHttpServer, type ScriptedTasks } from '@behalf/testkit';
import { expect } from '@jest/globals';
import {
  createKeyClient,
  sendModern,
  createWireClient,
  type WireMessage,
  type WireClient,
} from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig, type GatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

type Json = Readonly<Record<string, unknown>>;

/** Of a client that takes tasks. */
export const taskCapabilities = { elicitation: {}, ...tasksExtension };
const TOOL_NAMES = { '/mcp': 'files__slow', '/mcp/files': 'slow' } as const;
export type EndpointPath = keyof typeof TOOL_NAMES;

export const callTask = (
  client: WireClient,
  path: EndpointPath = '/mcp',
  declaredCapabilities: Json = taskCapabilities,
) => sendModern(client, 'tools/call', { name: TOOL_NAMES[path] }, { capabilities: declaredCapabilities });

/** Of a task that was begun for this. */
export async function startTask(client: WireClient, path: EndpointPath = '/mcp'): Promise<string> {
  const { message } = await callTask(client, path);
  expect(message.result).toMatchObject({ resultType: 'task' });
  return String(message.result?.['taskId']);
}

export async function sendTaskRequest(
  client: WireClient,
  action: string,
  taskId: string,
  extraParams: Json = {},
): Promise<WireMessage> {
  return (
    await sendModern(
      client,
      `tasks/${action}`,
      { taskId, ...extraParams },
      { capabilities: taskCapabilities },
    )
  ).message;
}

/** How often the server was asked anything of a task. */
export const countTaskRequests = ({ requests }: Pick<ScriptedHttpServer, 'requests'>) =>
  requests.filter(({ message }) => message?.method?.startsWith('tasks/')).length;

/** A gateway before a server with tasks. */
export interface TaskRig extends Pick<ScriptedTasks, 'tasks' | 'responses'> {
  readonly upstream: ScriptedHttpServer;
  readonly users: TestUser[];
  readonly ada: TestUser;
  readonly connectClient: (user: TestUser, path?: EndpointPath) => Promise<WireClient>;
  readonly yaml: (extraParams?: object, settings?: object) => string;
  /** The same client at another replica. */
  readonly connectToReplica: (client: WireClient) => Promise<WireClient>;
}

export function createTaskRigs(): GatewayRig & {
  startTasks(
    options?: Partial<Parameters<GatewayRig['startServer']>[0]>,
    names?: Parameters<GatewayRig['start']>[1],
  ): Promise<TaskRig>;
} {
  const rig = createGatewayRig();
  return Object.assign(rig, {
    async startTasks(options = {}, names: Parameters<GatewayRig['start']>[1] = ['Ada']): Promise<TaskRig> {
      const script = scriptedTasks();
      const upstream = await rig.startServer({ ...script, ...options });
      const yaml = (extraParams: object = {}, settings: object = {}) =>
        renderYaml({ files: httpDefinition(upstream.url, extraParams) }, settings);
      const users = await rig.start(yaml(), names);
      const { tasks, responses } = script;
      return {
        ...{ upstream, users, ada: users[0] as TestUser, yaml, tasks, responses },
        connectClient: (user, path = '/mcp') => createWireClient(user, rig.gateway.url, path),
        async connectToReplica(client) {
          const [replicaUser] = (await rig.startReplica(users)) as [TestUser];
          const base = new URL('/', (await replicaUser.get('/health')).url).href;
          return createKeyClient(
            client.headers['authorization']!.slice(7),
            base,
            new URL(client.url).pathname,
          );
        },
      };
    },
  });
}
