import { startScriptedModel } from '@behalf/devidp/sample';

const PIECE_COUNT = 200;
const PAUSE_MS = 20;

/** The model of the benchmark: one sentence for prompts that start with "short", many chunks otherwise. */
const model = await startScriptedModel({
  *script({ messages }) {
    const lastMessage = messages.findLast(({ role }) => role === 'user');
    const prompt = typeof lastMessage?.content === 'string' ? lastMessage.content : '';
    if (prompt.startsWith('short')) {
      yield `Answer to ${prompt}.`;
      return;
    }
    for (let i = 0; i < PIECE_COUNT; i += 1) {
      yield `piece ${i} ${i % 10 === 9 ? '\n\n' : ''}`;
      yield { until: new Promise((resolve) => setTimeout(resolve, PAUSE_MS)) };
    }
  },
});
process.stdout.write(`${JSON.stringify({ port: Number(new URL(model.url).port) })}\n`);
