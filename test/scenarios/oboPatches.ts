import fc from 'fast-check';

/** What a sly editor would write into each field of an OBO server. */
const attackValues: Record<string, readonly unknown[]> = {
  url: ['http://127.0.0.1:9/evil', '<url>#', '<url>?x={{MCP_API_KEY}}', null],
  type: ['sse', 'http', 'websocket', 'stdio', null],
  headers: [{ Authorization: 'Bearer x' }, { 'x-key': '********' }, { 'X-Key': 'mine' }, {}, null],
  obo: [
    { scopes: 'a b' },
    { scopes: 'b a' },
    { scopes: 'Mail.ReadWrite' },
    {},
    { scopes: 'a b', audience: 'evil' },
    null,
  ],
  proxy: ['http://127.0.0.1:9', null],
  oauth: [{ client_id: 'x' }, null],
  apiKey: [{ source: 'user', authorization_type: 'bearer' }, null],
  auth: [{ mode: 'none' }, null],
  customUserVars: [{ A: { title: 'A', description: '' } }],
  ['__proto__']: [{ url: 'http://127.0.0.1:9/evil' }],
  title: ['Other', '', null],
  description: ['Other', null],
  iconPath: ['/x.png', null],
};

const patchField = fc
  .constantFrom(...Object.keys(attackValues))
  .chain((key) =>
    fc
      .oneof({ weight: 4, arbitrary: fc.constantFrom(...attackValues[key]!) }, fc.jsonValue({ maxDepth: 2 }))
      .map((value): [string, unknown] => [key, value]),
  );

export interface OboPatch {
  readonly fields: readonly [string, unknown][];
  readonly mode: 'replace' | 'merge';
  /** Whether what is left out of a replacement is filled in as it was. */
  readonly includesVisible: boolean;
  readonly ifMatch: string | undefined;
}

export const oboPatches: fc.Arbitrary<OboPatch[]> = fc.array(
  fc.record({
    fields: fc.array(patchField, { maxLength: 4 }),
    mode: fc.constantFrom('replace' as const, 'merge' as const),
    includesVisible: fc.boolean(),
    ifMatch: fc.constantFrom(undefined, undefined, '*', '"1"', '"2"'),
  }),
  { minLength: 1, maxLength: 8 },
);

/** The text of the body: of two fields of one name the last counts, as on the wire. */
export function renderPatchBody(
  { fields, mode, includesVisible }: OboPatch,
  visible: { readonly url: string },
): string {
  const visibleFields = mode === 'replace' && includesVisible ? Object.entries(visible) : [];
  const members = [...visibleFields, ...fields].map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
  );
  return `{"config":{${members.join(',')}}}`.replaceAll('<url>', visible.url);
}
