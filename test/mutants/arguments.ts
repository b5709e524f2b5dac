import type { Mutant } from '../mutants.ts';

const prepare = 'packages/gateway/src/toolcall/schema/prepareSchema.ts';
const priced = 'packages/gateway/src/toolcall/schema/pricedKeywords.ts';
const pay = 'packages/gateway/src/toolcall/schema/payForPart.ts';
const time = 'packages/gateway/src/toolcall/schema/compilerTime.ts';
const compile = 'packages/gateway/src/toolcall/schema/compileSchema.ts';
const pattern = 'packages/gateway/src/toolcall/schema/linearPattern.ts';
const explain = 'packages/gateway/src/toolcall/schema/explainProblems.ts';
const measure = 'packages/gateway/src/toolcall/schema/measureArguments.ts';
const schemas = 'packages/gateway/src/toolcall/schema/compiledSchemas.ts';

export const argumentChecks: readonly Mutant[] = [
  {
    id: 'arguments.hostile-pattern',
    file: compile,
    find: 'return pattern;\n',
    replace: "return new RegExp(source, 'u');\n",
  },
  { id: 'arguments.hostile-pattern', file: pattern, find: '|| READ_OTHERWISE.test(source)', replace: '' },
  {
    id: 'arguments.hostile-pattern',
    file: prepare,
    find: "if (found.lost && found.turnsAround) throw new Uncheckable('pattern');",
    replace: '',
  },
  {
    id: 'arguments.remote-ref',
    file: prepare,
    find: "if (!given.startsWith('#')) throw new Uncheckable('remote_reference');",
    replace: '',
  },
  {
    id: 'arguments.remote-ref',
    file: prepare,
    find: "if (place !== '#' && (typeof $id",
    replace: "if (place === '' && (typeof $id",
  },
  {
    id: 'arguments.uncheckable',
    file: prepare,
    find: 'if (!references.every((reference) => places.has(decoded(reference))))',
    replace: 'if (references.includes(""))',
  },
  {
    id: 'arguments.uncheckable',
    file: prepare,
    find: "if (workLeft < 0) throw new Uncheckable('too_many_parts');",
    replace: '',
  },
  {
    id: 'arguments.uncheckable',
    file: prepare,
    find: "    work(1);\n    if (typeof value === 'boolean') return value;",
    replace: "    if (typeof value === 'boolean') return value;\n    work(1);",
  },
  {
    id: 'arguments.uncheckable',
    file: prepare,
    find: "if (kind === 'nameLists') work(",
    replace: "if (kind === 'schemas') work(",
  },
  {
    id: 'arguments.uncheckable',
    file: prepare,
    find: "if (text.length > LARGEST_SCHEMA) throw new Uncheckable('too_large');",
    replace: '',
  },
  {
    id: 'arguments.uncheckable',
    file: prepare,
    find: "if (depth > DEEPEST_SCHEMA) throw new Uncheckable('too_deep');",
    replace: '',
  },
  {
    id: 'arguments.uncheckable',
    file: prepare,
    find: 'if (!Number.isSafeInteger(given) || (given as number) < 0) break;',
    replace: '',
  },
  {
    id: 'arguments.bounded',
    file: pay,
    find: 'gen.code(_`${call(burn)}(${tank}, ${schema as number})`);',
    replace: '',
  },
  { id: 'arguments.bounded', file: pay, find: 'if (has(byLength))', replace: 'if (has([]))' },
  {
    id: 'arguments.bounded',
    file: pay,
    find: 'if (keysAlways || has(byKeys))',
    replace: 'if (keysAlways)',
  },
  {
    id: 'arguments.bounded',
    file: pay,
    find: 'if (keysAlways || has(byKeys))',
    replace: 'if (has(byKeys))',
  },
  { id: 'arguments.bounded', file: pay, find: '1 + (key.length >> 5)', replace: '1' },
  { id: 'arguments.bounded', file: pay, find: 'burn(fuel, value.length);', replace: 'void fuel;' },
  { id: 'arguments.bounded', file: priced, find: 'burn(fuel, inA.length + inB.length);', replace: '' },
  {
    id: 'arguments.bounded',
    file: priced,
    find: "burn(fuel, 1 + (typeof a === 'string' ? a.length >> 5 : 0));",
    replace: 'burn(fuel, 0);',
  },
  {
    id: 'arguments.bounded',
    file: priced,
    find: "(typeof a === 'string' ? a.length >> 5 : 0)",
    replace: '0',
  },
  {
    id: 'arguments.hostile-pattern',
    file: pattern,
    find: "if (!(patternSize(source) <= budget.programs)) throw new Uncheckable('pattern');",
    replace: '',
  },
  {
    id: 'arguments.compiler-time',
    file: time,
    find: 'find(server).ms < MOST_OF_ONE_MS && ',
    replace: '',
  },
  {
    id: 'arguments.compiler-time',
    file: time,
    find: ' && current(all).ms < MOST_OF_ALL_MS',
    replace: '',
  },
  { id: 'arguments.compiler-time', file: time, find: ' || now < spent.since', replace: '' },
  {
    id: 'arguments.compiler-time',
    file: schemas,
    find: "if (reason === 'compiler_busy') return undefined;",
    replace: '',
  },
  {
    id: 'arguments.bounded',
    file: pattern,
    find: '      burn(fuel, 1 + 2 * text.length + ((text.length * size) >> 1));\n',
    replace: '',
  },
  {
    id: 'arguments.bounded',
    file: schemas,
    find: "if (entry.costly >= MOST_COSTLY_CHECKS) judge(entry, 'too_costly');",
    replace: '',
  },
  {
    id: 'arguments.no-echo',
    file: explain,
    find: 'JSON.stringify(cut(redactor.text(key), 64))',
    replace: 'JSON.stringify(cut(key, 64))',
  },
  {
    id: 'arguments.size',
    file: measure,
    find: 'else if (depth > DEEPEST_ARGUMENTS) found.tooDeep = true;',
    replace: '',
  },
  { id: 'arguments.size', file: measure, find: 'Buffer.byteLength(value) + 2', replace: 'value.length + 2' },
  { id: 'arguments.inherited', file: compile, find: '    ownProperties: true,\n', replace: '' },
  {
    id: 'arguments.cache',
    file: schemas,
    find: '        entry.state = undefined;\n',
    replace: "        entry.state = 'too_costly';\n",
  },
  {
    id: 'arguments.cache',
    file: schemas,
    find: 'if (own && own.size >= mostOfOne) evict(own);',
    replace: '',
  },
  {
    id: 'arguments.cache',
    file: schemas,
    find: ' ?? verdicts.get(keyOf(server, content))',
    replace: '',
  },
  {
    id: 'arguments.cache',
    file: schemas,
    find: 'copies.get(content)?.compiled ?? compileSchema(schema, spend)',
    replace: 'compileSchema(schema, spend)',
  },
  {
    id: 'arguments.cache',
    file: schemas,
    find: 'if (known) known.shared += 1;',
    replace: 'if (known) void 0;',
  },
  {
    id: 'arguments.cache',
    file: schemas,
    find: 'if (copy.shared === 0) copies.delete(content);',
    replace: 'copies.delete(content);',
  },
  { id: 'arguments.cache', file: schemas, find: '    copy.shared -= 1;\n', replace: '' },
];
