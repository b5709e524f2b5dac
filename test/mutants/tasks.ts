import type { Mutant } from '../mutants.ts';

const taskIds = 'api/src/mcp/taskIds.ts';
const methods = 'api/src/mcp/methods/tasks.ts';
const calling = 'api/src/mcp/methods/callMethod.ts';
const begun = 'packages/gateway/src/toolcall/begunTask.ts';
const askTask = 'packages/gateway/src/toolcall/askTask.ts';
const taskTold = 'packages/gateway/src/toolcall/taskTold.ts';
const dialogue = 'packages/gateway/src/toolcall/dialogue.ts';
const headers = 'packages/gateway/src/upstream/http/modernHeaders.ts';
const upstreamError = 'packages/gateway/src/upstream/upstreamError.ts';
const credentials = 'packages/gateway/src/credentials/credentials.ts';

export const tasks: readonly Mutant[] = [
  {
    id: 'tasks.begun',
    file: calling,
    find: 'results.task({ ...result, taskId })',
    replace: 'results.task(taskId ? result : {})',
  },
  { id: 'tasks.sealed', file: taskIds, find: 'clock.now() >= until', replace: 'until === undefined' },
  {
    id: 'tasks.sealed',
    file: taskIds,
    find: 'principal: principalKey(caller),',
    replace: "principal: '-',",
  },
  {
    id: 'tasks.sealed',
    file: taskIds,
    find: 'binding: [caller.issuer, endpoint],',
    replace: 'binding: [caller.issuer],',
  },
  {
    id: 'tasks.sealed',
    file: taskIds,
    find: 'if (sealed.length > LONGEST_ID) throw',
    replace: 'if (sealed.length > 9 * LONGEST_ID) throw',
  },
  {
    id: 'tasks.asked',
    file: methods,
    find: "'taskId' in result ? { ...result, taskId } : result",
    replace: 'result',
  },
  {
    id: 'tasks.asked',
    file: begun,
    find: "claims.era !== 'modern' || !namesTasks(claims.capabilities)",
    replace: 'claims === undefined',
  },
  { id: 'tasks.offered', file: methods, find: 'if (namesTasks(capabilities)) return;', replace: 'return;' },
  {
    id: 'tasks.undeclared',
    file: dialogue,
    find: '    namesTasks(capabilities) &&\n',
    replace: '',
  },
  {
    id: 'tasks.undeclared',
    file: dialogue,
    find: "    era === 'modern' &&\n    (method",
    replace: '    (method',
  },
  {
    id: 'tasks.undeclared',
    file: dialogue,
    find: "    claims.era === 'modern' &&\n    namesTasks(claims.capabilities)\n",
    replace: "    claims.era === 'modern'\n",
  },
  {
    id: 'tasks.required',
    file: dialogue,
    find: " && Object.keys(wanted['extensions'] as Json).length === 1",
    replace: '',
  },
  {
    id: 'tasks.once',
    file: upstreamError,
    find: "task: ['failed', 'MCP_PROTOCOL_ERROR']",
    replace: "task: ['unknown', 'MCP_PROTOCOL_ERROR']",
  },
  { id: 'tasks.headers', file: headers, find: "  ['tasks/get', 'taskId'],\n", replace: '' },
  {
    id: 'tasks.access',
    file: askTask,
    find: 'if (server.id !== task.serverId) throw unknown();',
    replace: '',
  },
  {
    id: 'tasks.place',
    file: askTask,
    find: 'if (placeOf(ready) !== task.place) throw unknown();',
    replace: '',
  },
  {
    id: 'tasks.place',
    file: 'packages/gateway/src/toolcall/placeOf.ts',
    find: ': [target.type, target.url];',
    replace: ': [target.type, new URL(target.url).host];',
  },
  { id: 'tasks.access', file: askTask, find: "verdict === 'absent' || ", replace: '' },
  {
    id: 'tasks.credential',
    file: askTask,
    find: '{ ...inbound, credential: task.credential }',
    replace: 'inbound',
  },
  { id: 'tasks.credential', file: credentials, find: '      label: own.key.label,\n', replace: '' },
  {
    id: 'tasks.credential',
    file: 'api/src/mcp/authNeeded.ts',
    find: ' && DIALOGUES.has(method)',
    replace: '',
  },
  {
    id: 'tasks.questions',
    file: dialogue,
    find: "if (typeof method !== 'string' || !mayAsk(capabilities, method, params)) return undefined;\n    asked[id]",
    replace: "if (typeof method !== 'string') return undefined;\n    asked[id]",
  },
  {
    id: 'tasks.words',
    file: taskTold,
    find: 'withoutOurMeta(result)',
    replace: 'result',
  },
  { id: 'tasks.words', file: taskTold, find: "withoutOurs(error['data'])", replace: "error['data']" },
  {
    id: 'tasks.words',
    file: begun,
    find: 'maskJson(begunTold(result), ready)',
    replace: 'begunTold(result)',
  },
  { id: 'tasks.words', file: begun, find: 'begunTold(result)', replace: 'withoutOurMeta(result)' },
  {
    id: 'tasks.words',
    file: begun,
    find: 'const { _meta } = withoutOurMeta(result);',
    replace: 'const { _meta } = result;',
  },
  {
    id: 'tasks.words',
    file: begun,
    find: "if (value === null || ['string', 'number'].includes(typeof value)) said",
    replace: 'if (value !== undefined) said',
  },
];
