import { startScriptedModel } from '@behalf/devidp/sample';

const PIECES = 200;
const PAUSE_MS = 20;

/** The model of the benchmark: a sentence for what begins with "short", many pieces one after the other for the rest. */
const model = await startScriptedModel({
  *script({ messages }) {
    const last = messages.findLast(({ role }) => role === 'user');
    const asked = typeof last?.content === 'string' ? last.content : '';
    if (asked.startsWith('short')) {
      yield `Answer to ${asked}.`;
      return;
    }
    for (let i = 0; i < PIECES; i += 1) {
      yield `piece ${i} ${i % 10 === 9 ? '\n\n' : ''}`;
      yield { until: new Promise((resolve) => setTimeout(resolve, PAUSE_MS)) };
    }
  },
});
process.stdout.write(`${JSON.stringify({ port: Number(new URL(model.url).port) })}\n`);
