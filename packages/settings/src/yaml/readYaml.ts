import { Composer, Lexer, LineCounter, Parser, type CST, type YAMLError } from 'yaml';
import { formatPath, type Diagnostic, type Finding, type Path } from '@behalf/contracts';
import { YAML_LIMITS, convertDocument, type YamlLocation } from './yamlNodes.ts';

/** Adds the line of the finding's key, or of the nearest existing ancestor. */
type LocateFinding = (finding: Finding) => Diagnostic;

type YamlResult =
  { ok: true; value: unknown; locate: LocateFinding } | { ok: false; diagnostics: Diagnostic[] };

/** Parses untrusted YAML with limits on size, depth and alias expansion. Never throws. */
export function readYaml(text: string): YamlResult {
  if (Buffer.byteLength(text, 'utf8') > YAML_LIMITS.bytes) {
    return fail(
      'yaml_too_large',
      `the file is larger than ${YAML_LIMITS.bytes / 1024 / 1024} MiB`,
      'move large texts to other files',
    );
  }
  if (exceedsLines(text, YAML_LIMITS.lines)) {
    return fail(
      'yaml_too_large',
      `the file has more than ${YAML_LIMITS.lines} lines`,
      'remove what is not used',
    );
  }
  const lines = new LineCounter();
  try {
    return parseDocument(text, lines);
  } catch {
    // The parser may throw on any input. The start must then report an unusable file and not crash.
    return fail('yaml_syntax', 'the file is not valid YAML', 'check it with a YAML editor');
  }
}

function parseDocument(text: string, lines: LineCounter): YamlResult {
  const tokens = parseTokens(text, lines);
  if (!tokens) {
    return fail('yaml_too_large', 'the file has too many keys and values', 'remove what is not used');
  }
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  const deepOffset = findTooDeep(tokens);
  if (deepOffset !== undefined) {
    return fail(
      'yaml_too_deep',
      `is nested more than ${YAML_LIMITS.depth} levels deep`,
      'flatten it',
      lineAt(deepOffset),
    );
  }
  // `convertDocument` finds duplicate keys. The library's check compares every pair of keys.
  const composer = new Composer({
    uniqueKeys: false,
    merge: false,
    strict: true,
    version: '1.2',
    prettyErrors: false,
  });
  // Read at most two documents: a second one is already an error.
  const documents = composer.compose(tokens, true, text.length);
  const document = documents.next().value ?? undefined;
  const second = documents.next().value ?? undefined;
  if (!document) return fail('yaml_empty', 'the file is empty', 'start from librechat.yaml.example');
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0)
    return { ok: false, diagnostics: errors.slice(0, 10).map((error) => describeSyntaxError(error, lineAt)) };
  if (second)
    return fail(
      'yaml_documents',
      'the file contains more than one document',
      'remove the --- line',
      lineAt(second.range[0]),
    );

  const converted = convertDocument(document);
  if ('problem' in converted) {
    const line = converted.offset === undefined ? undefined : lineAt(converted.offset);
    return { ok: false, diagnostics: [toDiagnostic(converted.problem, line)] };
  }
  if (converted.value === null)
    return fail('yaml_empty', 'the file is empty', 'start from librechat.yaml.example');
  return {
    ok: true,
    value: converted.value,
    locate: (finding) => {
      const offset = findOffset(finding.path, converted.location);
      return toDiagnostic(finding, offset === undefined ? undefined : lineAt(offset));
    },
  };
}

/** The position of the longest existing prefix of the path: a missing key is reported at its parent. */
function findOffset(path: Path, root: YamlLocation): number | undefined {
  let location = root;
  for (const step of path) {
    const child = location.children.get(step);
    if (!child) break;
    location = child;
  }
  return location.offset;
}

function exceedsLines(text: string, limit: number): boolean {
  let lines = 1;
  for (let index = text.indexOf('\n'); index >= 0; index = text.indexOf('\n', index + 1)) {
    lines += 1;
    if (lines > limit) return true;
  }
  return false;
}

/** The library's `parse` with a limit: undefined if the file has too many tokens. */
function parseTokens(text: string, lines: LineCounter): CST.Token[] | undefined {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    lexemes += 1;
    if (lexemes > YAML_LIMITS.lexemes) return undefined;
    tokens.push(...parser.next(lexeme));
  }
  tokens.push(...parser.end());
  return tokens;
}

/** The composer is recursive, the lexer is not. Checking the depth first protects the stack from a malicious file. */
function findTooDeep(tokens: readonly CST.Token[]): number | undefined {
  const stack: { token: CST.Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { token, depth } = next;
    if (depth > YAML_LIMITS.depth * 2) return token.offset;
    if (token.type === 'document' && token.value) stack.push({ token: token.value, depth });
    if ('items' in token) {
      for (const item of token.items) {
        if (item.key) stack.push({ token: item.key, depth: depth + 1 });
        if (item.value) stack.push({ token: item.value, depth: depth + 1 });
      }
    }
  }
  return undefined;
}

/** Own messages: those of the library may quote the file, which may contain a secret. */
const syntaxMessages: Partial<Record<YAMLError['code'], [message: string, suggestion?: string]>> = {
  ALIAS_PROPS: ['an alias cannot have an anchor or a tag'],
  BAD_ALIAS: ['the alias has no anchor before it'],
  BAD_INDENT: ['the indentation is not consistent', 'indent by two spaces per level'],
  BLOCK_AS_IMPLICIT_KEY: [
    'a nested mapping cannot begin here',
    'put it on the next line, or quote the value',
  ],
  BLOCK_IN_FLOW: ['a block is not allowed inside [ ] or { }'],
  DUPLICATE_KEY: ['the key occurs twice', 'remove one of them'],
  MISSING_CHAR: ['a character is missing here', 'look for an unclosed quote or bracket, or a missing colon'],
  MULTILINE_IMPLICIT_KEY: ['a key must be on one line', 'look for a missing colon'],
  MULTIPLE_ANCHORS: ['a value can have one anchor'],
  MULTIPLE_DOCS: ['the file contains more than one document', 'remove the --- line'],
  TAB_AS_INDENT: ['a tab cannot be used for indentation', 'use spaces'],
  TAG_RESOLVE_FAILED: ['tags such as !name are not supported', 'remove the tag'],
  UNEXPECTED_TOKEN: ['the content is not expected here', 'quote the value if it is text'],
  KEY_OVER_1024_CHARS: ['the key is too long'],
  BAD_SCALAR_START: ['a plain value cannot begin with this character', 'put it in quotes'],
  BAD_DQ_ESCAPE: ['the escape is not valid inside double quotes', 'use single quotes'],
};

function describeSyntaxError(error: YAMLError, lineAt: (offset: number) => number): Diagnostic {
  const [message, suggestion] = syntaxMessages[error.code] ?? ['the file is not valid YAML from here on'];
  return toDiagnostic(
    { path: [], code: 'yaml_syntax', message, ...(suggestion === undefined ? {} : { suggestion }) },
    lineAt(error.pos[0]),
  );
}

function fail(code: string, message: string, suggestion: string, line = 1): YamlResult {
  return { ok: false, diagnostics: [toDiagnostic({ path: [], code, message, suggestion }, line)] };
}

function toDiagnostic({ path, code, message, suggestion }: Finding, line: number | undefined): Diagnostic {
  return {
    path: formatPath(path),
    code,
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(line === undefined ? {} : { line }),
  };
}
