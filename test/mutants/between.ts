import type { Mutant } from '../mutants.ts';

const parking = 'api/src/mcp/parking/parking.ts';
const parkedCall = 'api/src/mcp/parking/parkedCall.ts';
const queue = 'api/src/mcp/parking/queue.ts';
const elsewhere = 'api/src/mcp/parking/elsewhere.ts';
const requestState = 'api/src/mcp/requestState.ts';
const asking = 'api/src/mcp/session/asking.ts';
const rounds = 'packages/gateway/src/toolcall/rounds.ts';
const dialogue = 'packages/gateway/src/toolcall/dialogue.ts';
const tools = 'api/src/mcp/methods/tools.ts';

export const between: readonly Mutant[] = [
  {
    id: 'between.parked.state',
    file: parking,
    find: '!(await cache.delete(ticketOf(id, round)))',
    replace: '(await cache.get(ticketOf(id, round))) === undefined',
  },
  {
    id: 'between.parked.state',
    file: requestState,
    find: 'principal: principalKey(caller),',
    replace: "principal: '-',",
  },
  {
    id: 'between.parked.state',
    file: requestState,
    find: 'binding: [endpoint, digestOf(params)],',
    replace: 'binding: [endpoint],',
  },
  {
    id: 'between.parked.expired',
    file: parking,
    find: 'const expire = clock.timer(limits.ms, () => call.end(expired()));',
    replace: 'const expire = () => undefined;',
  },
  {
    id: 'between.parked.expired',
    file: parking,
    find: 'if (clock.now() >= until || ',
    replace: 'if (',
  },
  {
    id: 'between.parked.expired',
    file: parkedCall,
    find: '    signal.abort(reason);\n',
    replace: '',
  },
  {
    id: 'between.parked.bounded',
    file: parking,
    find: 'own >= limits.perUser || ',
    replace: '',
  },
  {
    id: 'between.parked.bounded',
    file: parking,
    find: 'calls.size >= limits.inAll || ',
    replace: '',
  },
  {
    id: 'between.parked.bounded',
    file: parking,
    find: ' || bytes + size > limits.bytes',
    replace: '',
  },
  {
    id: 'between.parked.bounded',
    file: queue,
    find: 'if (kept + size > MOST_KEPT)',
    replace: 'if (kept + size < 0)',
  },
  {
    id: 'between.parked.bounded',
    file: parkedCall,
    find: 'waiting || text.length <= LONGEST_KEPT',
    replace: 'true',
  },
  {
    id: 'between.parked.gone',
    file: elsewhere,
    find: 'alive === undefined ? lost() : watch(BEAT_MS)',
    replace: 'watch(alive === undefined ? BEAT_MS : BEAT_MS)',
  },
  {
    id: 'between.parked.gone',
    file: elsewhere,
    find: 'cache.set(aliveOf(attempt), ',
    replace: "cache.set('nobody', ",
  },
  {
    id: 'between.parked.left',
    file: parking,
    find: "call.end(new DOMException('Shutting down', 'AbortError'))",
    replace: 'void call',
  },
  {
    id: 'between.parked.left',
    file: elsewhere,
    find: "      mailbox.post(place, `left:${attempt}`, 'left').catch(() => undefined);\n",
    replace: '',
  },
  {
    id: 'between.parked',
    file: parkedCall,
    find: 'queue.take(({ method, params }) => mayAsk(capabilities, method, params))',
    replace: 'queue.take(() => capabilities !== undefined || mayAsk({}, 0, {}))',
  },
  {
    id: 'between.rounds.bounded',
    file: rounds,
    find: 'round >= MOST_ROUNDS || ',
    replace: '',
  },
  {
    id: 'between.rounds.bounded',
    file: rounds,
    find: ' || asked > MOST_QUESTIONS',
    replace: '',
  },
  {
    id: 'between.rounds',
    file: rounds,
    find: "...(typeof requestState === 'string' && { requestState })",
    replace: '',
  },
  {
    id: 'between.rounds.left',
    file: rounds,
    find: "  else outer.addEventListener('abort', leave);\n",
    replace: '',
  },
  {
    id: 'between.rounds.page',
    file: rounds,
    find: 'if (links) return',
    replace: 'if (links && !ready) return',
  },
  {
    id: 'between.pages-first',
    file: dialogue,
    find: 'canOpen && !wasClosed(peer) ? pagesFirst(elicitations)',
    replace: 'canOpen ? pagesFirst(elicitations)',
  },
  {
    id: 'between.asked.revision',
    file: asking,
    find: '{ elicitationId: nonce, ...params }',
    replace: 'params',
  },
  {
    id: 'between.asked.unable',
    file: tools,
    find: " || (code === 'MCP_DIALOGUE_UNSUPPORTED' && era === 'legacy')",
    replace: '',
  },
];
