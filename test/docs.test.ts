import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Route } from '../api/src/http/route.ts';
import { isTestFile, readSources, repositoryRoot, type SourceFile } from '../tools/sources.ts';
import { startInProcess } from './scenarios/inProcess.ts';

const pages = readPages();

describe('documentation', () => {
  test('every relative link leads to a file, and to a heading where it names one', () => {
    expect(pages.length).toBeGreaterThanOrEqual(20);
    expect(pages.flatMap(brokenLinks)).toEqual([]);
  });

  test('every path the architecture page names exists', () => {
    const page = pageAt('ARCHITECTURE.md');
    const named = [...page.text.matchAll(/`((?:api|bench|config|docs|packages|test|tools)\/[\w./-]+)`/g)];
    expect(named.length).toBeGreaterThan(20);
    expect(named.map(([, path = '']) => path).filter((path) => !isThere(path))).toEqual([]);
  });

  test('the tree of the architecture page has a line for every folder of code', () => {
    const tree = new Set(
      [...pageAt('ARCHITECTURE.md').text.matchAll(/^ *(\S+)\/ /gm)].map(([, path]) => path),
    );
    const folders = ['packages', 'config'].flatMap((folder) => foldersOf(folder));
    const sources = ['api/src', 'packages/gateway/src'].flatMap((folder) =>
      foldersOf(folder).map((name) => `src/${name}`),
    );
    expect(folders.length + sources.length).toBeGreaterThan(15);
    expect([...folders, ...sources].filter((name) => !tree.has(name))).toEqual([]);
  });

  test('reports a link to a file or a heading that does not exist, and leaves code and the web alone', () => {
    const text =
      '# One `two` (three)\n[a](b.md) [c](#nowhere) [d](#one-two-three) [e](https://x.y/z)\n' +
      '`[f](g.md)`\n```\n[h](i.md)\n```\n[j]: k.md\n[up](../../etc)\n';
    expect(brokenLinks({ path: 'docs/x.md', text })).toEqual([
      'docs/x.md: b.md does not exist',
      'docs/x.md: #nowhere is no heading of docs/x.md',
      'docs/x.md: ../../etc leaves the repository',
      'docs/x.md: k.md does not exist',
    ]);
  });

  test('the REST reference lists every route of the router with who may enter', async () => {
    const documented = documentedRoutes(pageAt('docs/reference/rest.md').text);
    // Nobody answers at this issuer: its routes are there all the same.
    const openId = { OPENID_ISSUER: 'http://127.0.0.1:9', OPENID_CLIENT_ID: 'behalf' };
    const gateway = await startInProcess(openId, '{ "authorizationServer": { "enabled": true } }');
    try {
      expect(documented.sort()).toEqual(gateway.routes.map(routeLine).sort());
    } finally {
      await gateway.close();
    }
  });

  test('every event that the gateway logs by name is explained in a guide', () => {
    const named = readSources()
      .filter(({ path }) => /^(api|packages\/gateway)\/src\//.test(path) && !isTestFile(path))
      .flatMap(({ text }) => [...text.matchAll(/\blog\(\s*'([a-z_.]+)'/g)].map(([, event = '']) => event));
    expect(named.length).toBeGreaterThan(40);
    const guides = pages.filter(({ path }) => path.startsWith('docs/guides/'));
    const isDocumented = (event: string) => guides.some(({ text }) => text.includes(`\`${event}\``));
    expect([...new Set(named)].filter((event) => !isDocumented(event))).toEqual([]);
  });

  test('every npm command a page names is a script of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\bnpm (?:run (?:-\S+ )*([a-z][\w:-]*)|(start|test)\b)/g)].map((found) => ({
        path,
        script: found[1] ?? found[2] ?? '',
      })),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(({ script }) => !Object.hasOwn(scripts, script))).toEqual([]);
  });
});

function readPages(): SourceFile[] {
  const skipped = new Set(['node_modules', 'dist', 'data', 'fixtures', 'coverage']);
  const found: SourceFile[] = [];
  const visitNodes = (folder: string): void => {
    for (const entry of readdirSync(join(repositoryRoot, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !skipped.has(entry.name) && !entry.name.startsWith('.')) visitNodes(path);
      else if (entry.isFile() && entry.name.endsWith('.md'))
        found.push({ path, text: readFileSync(join(repositoryRoot, path), 'utf8') });
    }
  };
  visitNodes('');
  return found;
}

function pageAt(path: string): SourceFile {
  const page = pages.find((candidate) => candidate.path === path);
  if (!page) throw new Error(`${path} does not exist`);
  return page;
}

function foldersOf(folder: string): string[] {
  return readdirSync(join(repositoryRoot, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
    .map(({ name }) => name);
}

function isThere(path: string): boolean {
  return existsSync(join(repositoryRoot, path));
}

function brokenLinks({ path, text }: SourceFile): string[] {
  const prose = text.replace(/^( *)```[\s\S]*?^ *```/gm, '').replace(/`[^`\n]*`/g, '');
  const targets = [
    ...[...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g)].map((found) => found[1] ?? ''),
    ...[...prose.matchAll(/^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)/gm)].map((found) => found[1] ?? ''),
  ];
  return targets
    .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
    .flatMap((target) => {
      const problem = problemWith(target, path, text);
      return problem === undefined ? [] : [`${path}: ${problem}`];
    });
}

function problemWith(target: string, from: string, text: string): string | undefined {
  const [file = '', heading] = target.split('#');
  const absolute = file === '' ? from : join(dirname(from), decodeURIComponent(file));
  const inside = relative(repositoryRoot, resolve(repositoryRoot, absolute));
  if (inside.startsWith('..')) return `${target} leaves the repository`;
  if (file !== '' && !isThere(inside)) return `${target} does not exist`;
  if (heading === undefined || !inside.endsWith('.md')) return undefined;
  const goal = file === '' ? text : readFileSync(join(repositoryRoot, inside), 'utf8');
  return headingsOf(goal).includes(heading) ? undefined : `#${heading} is no heading of ${inside}`;
}

/** As GitHub names them: lower case, punctuation gone, blanks as hyphens. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#{1,6} +(.+)$/gm)].map(([, title = '']) =>
    title
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replace(/ /g, '-'),
  );
}

function routeLine(route: Route): string {
  const { method, path, access } = route;
  return `${method.toUpperCase()} ${path} ${access}${access === 'public' ? '' : ` ${route.scope}`}`;
}

const accessWords = new Map([
  ['Public', 'public'],
  ['Any caller', 'caller'],
  ['Signed in', 'signed-in'],
  ['Administrator', 'admin'],
]);

/** A heading names the route; the first words beneath it say who may enter, and with which API key. */
function documentedRoutes(text: string): string[] {
  const section =
    /^### `([A-Z]+ \/\S*)`\n\n(Public|Any caller|Signed in|Administrator)?(?:, (?:scope `(\w+)`|(no API key)))?/gm;
  return [...text.matchAll(section)].map(([, route = '', who = '', scope, noKey]) =>
    [route, accessWords.get(who) ?? 'nobody said who', noKey ? 'none' : scope].filter(Boolean).join(' '),
  );
}
