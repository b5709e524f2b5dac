import type { Mutant } from '../mutants.ts';

const blocks = 'packages/web/src/result/readBlock.ts';
const runs = 'packages/web/src/tools/runs.ts';

export const webTools: readonly Mutant[] = [
  {
    id: 'web.results.pictures',
    file: blocks,
    find: "if (PICTURES.has(mimeType)) return { kind: 'image', payload };",
    replace: "if (mimeType.startsWith('image/')) return { kind: 'image', payload };",
  },
  {
    id: 'web.results.pictures',
    file: blocks,
    find: 'const SOUND = /^audio\\/[a-z0-9][a-z0-9.+-]{0,60}$/;',
    replace: 'const SOUND = /^audio\\//;',
  },
  {
    id: 'web.results.links',
    file: 'packages/web/src/result/safeHref.ts',
    find: "const isWeb = url.protocol === 'https:' || url.protocol === 'http:';",
    replace: "const isWeb = url.protocol !== 'javascript:';",
  },
  {
    id: 'web.results.links',
    file: 'packages/web/src/result/safeHref.ts',
    find: "url.username === '' && ",
    replace: '',
  },
  {
    id: 'web.results.files',
    file: 'packages/web/src/result/fileName.ts',
    find: ".replace(/^[._ ]+/, '')",
    replace: '',
  },
  {
    id: 'web.form.exact',
    file: 'packages/web/src/schemaForm/readDraft.ts',
    find: '    return Object.fromEntries(members);',
    replace:
      '    const object: Record<string, unknown> = {};\n    for (const [name, value] of members) object[name] = value;\n    return object;',
  },
  {
    id: 'web.form.hostile',
    file: 'packages/web/src/schemaForm/createDraft.ts',
    find: "if (left < 0 || depth > DEEPEST) return { kind: 'json', text: '' };",
    replace: "if (left < -9_000 || depth > DEEPEST) return { kind: 'json', text: '' };",
  },
  {
    id: 'web.form.hostile',
    file: 'packages/web/src/schemaForm/flattenSchema.ts',
    find: '    left -= 1;\n',
    replace: '',
  },
  {
    id: 'web.console.asks',
    file: runs,
    find: 'if (approve) await perform(id, run);',
    replace: 'await perform(id, run);',
  },
  {
    id: 'web.console.asks',
    file: runs,
    find: "if (run?.state !== 'waiting' || !run.approval || run.isDeciding) return;",
    replace: "if (run?.state !== 'waiting' || !run.approval) return;",
  },
  {
    id: 'web.console.runs',
    file: runs,
    find: 'if (controller.signal.aborted) return;',
    replace: '',
  },
  {
    id: 'web.console.curl',
    file: 'packages/web/src/tools/curlCommand.ts',
    find: "return `'${text.replaceAll(\"'\", `'\\\\''`)}'`;",
    replace: "return `'${text}'`;",
  },
  {
    id: 'web.console.connect',
    file: 'packages/web/src/call/connectAddress.ts',
    find: 'if (url.origin !== origin) return undefined;',
    replace: '',
  },
  {
    id: 'web.console.connect',
    file: 'packages/web/src/call/connectAddress.ts',
    find: 'return url.href;',
    replace: 'return url.pathname + url.search;',
  },
  {
    id: 'web.call.visible',
    file: 'packages/web/src/call/exactLines.ts',
    find: 'return visibleText(JSON.stringify(value ?? null));',
    replace: 'return JSON.stringify(value ?? null);',
  },
  {
    id: 'web.call.visible',
    file: 'packages/web/src/call/visibleText.ts',
    find: '\\p{Default_Ignorable_Code_Point}',
    replace: '',
  },
  {
    id: 'web.call.exact',
    file: 'packages/web/src/call/exactChunks.ts',
    find: 'if (chunk.length > 0) chunks.push(chunk);',
    replace: '',
  },
];
