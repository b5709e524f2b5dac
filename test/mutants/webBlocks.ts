import type { Mutant } from '../mutants.ts';

const run = 'packages/web/src/blocks/run/useBlockRun.ts';

export const webBlocks: readonly Mutant[] = [
  {
    id: 'web.blocks.seen',
    file: 'packages/web/src/api/blocks.ts',
    find: `headers: { Accept: 'text/event-stream', 'If-Match': \`"\${version}"\` },`,
    replace: "headers: { Accept: 'text/event-stream' },",
  },
  {
    id: 'web.blocks.exact',
    file: run,
    find: "args: { ...savedValues(block.inputs, ['fixed', 'default']), ...inputs },",
    replace: 'args: inputs,',
  },
  {
    id: 'web.blocks.deleted',
    file: run,
    find: 'block: { id, version, inputs, credential: selected },',
    replace: 'block: { id, version, inputs, credential: undefined },',
  },
  {
    id: 'web.blocks.asked',
    file: 'packages/web/src/blocks/run/askedInputs.ts',
    find: "inputs[name]?.mode === 'fixed';",
    replace: "inputs[name]?.mode === 'ask';",
  },
];
