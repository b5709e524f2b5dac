import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import type { Confinement, PackageRule } from '../test/architecture.ts';
import type { ModuleFacts } from './imports.ts';

export interface Manifest {
  name: string;
  exports?: Record<string, unknown>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

export interface Borders {
  packageRules: readonly PackageRule[];
  confinements: readonly Confinement[];
  environmentReaders: readonly string[];
  strangers: { root: string; folders: readonly string[]; introducers: readonly string[] };
  /** By folder. A folder without a package.json of its own (bench) has none. */
  manifests: ReadonlyMap<string, Manifest>;
}

/** Every import and habit that the table does not allow, one readable line each. */
export function findViolations(modules: readonly ModuleFacts[], borders: Borders): string[] {
  return [...modules.flatMap((module) => checkModule(module, borders)), ...checkStrangers(modules, borders)];
}

function checkModule(module: ModuleFacts, borders: Borders): string[] {
  const { path } = module;
  const rule = borders.packageRules.find(({ folder }) => path.startsWith(`${folder}/`));
  if (rule === undefined) return [`${path}: no rule covers this folder`];

  const problems: string[] = [];
  if (module.hasDefaultExport) problems.push(`${path}: default export; name it`);
  if (module.readsEnvironment && !startsWithAny(path, borders.environmentReaders))
    problems.push(`${path}: reads process.env; only entry points do`);
  for (const specifier of module.imports) {
    const why = findRefusal(path, specifier, rule, borders);
    if (why !== undefined) problems.push(`${path}: imports ${specifier}; ${why}`);
  }
  return problems;
}

function findRefusal(
  path: string,
  specifier: string,
  rule: PackageRule,
  borders: Borders,
): string | undefined {
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier);
    return target.startsWith(`${rule.folder}/`) ? undefined : `it leaves ${rule.folder}`;
  }
  const name = isBuiltin(specifier) && !specifier.startsWith('node:') ? `node:${specifier}` : specifier;
  const confinement = borders.confinements.find(({ modules }) =>
    modules.some((module) => isWithin(name, module)),
  );
  if (confinement !== undefined && !startsWithAny(path, confinement.allowedPaths)) return confinement.reason;

  if (name.startsWith('node:'))
    return rule.node === 'all' ? undefined : `${rule.folder} also runs in a browser`;
  if (name.startsWith('@behalf/')) return findOwnPackageRefusal(name, rule, borders);
  const owner = getPackageName(name);
  if (!rule.npm.includes(owner)) return `the table does not allow ${owner} in ${rule.folder}`;
  const manifest = borders.manifests.get(rule.folder);
  const declared = { ...(rule.development && manifest?.devDependencies), ...manifest?.dependencies };
  if (manifest !== undefined && declared[owner] === undefined)
    return `${rule.folder}/package.json does not declare ${owner}`;
  return undefined;
}

function findOwnPackageRefusal(specifier: string, rule: PackageRule, borders: Borders): string | undefined {
  if (!rule.ownPackages.includes(specifier)) return `the table does not allow it in ${rule.folder}`;
  const owner = getPackageName(specifier);
  const target = [...borders.manifests.values()].find(({ name }) => name === owner);
  if (target === undefined) return `there is no package ${owner}`;
  const subpath = `.${specifier.slice(owner.length)}`;
  if (target.exports?.[subpath] === undefined) return `${owner} does not export ${subpath}`;
  const manifest = borders.manifests.get(rule.folder);
  if (manifest !== undefined && manifest.dependencies?.[owner] === undefined)
    return `${rule.folder}/package.json does not declare ${owner}`;
  return undefined;
}

/** By folder, not by module: two files of one folder that know one side each are the meeting that must not happen. */
function checkStrangers(modules: readonly ModuleFacts[], { strangers }: Borders): string[] {
  const { root, folders, introducers } = strangers;
  const sidesByFolder = new Map<string, Map<string, string>>();
  for (const { path, imports } of modules) {
    if (!path.startsWith(root)) continue;
    const from = firstSegment(path.slice(root.length));
    if (introducers.includes(from)) continue;
    const sides = sidesByFolder.get(from) ?? new Map<string, string>();
    sidesByFolder.set(from, sides);
    if (folders.includes(from)) sides.set(from, path);
    for (const specifier of imports.filter((item) => item.startsWith('.'))) {
      const target = posix.join(posix.dirname(path), specifier);
      const to = target.startsWith(root) ? firstSegment(target.slice(root.length)) : '';
      if (folders.includes(to) && to !== from) sides.set(to, path);
    }
  }
  return [...sidesByFolder]
    .filter(([, sides]) => sides.size > 1)
    .map(([from, sides]) => {
      const sideTexts = [...sides].map(([side, path]) => `${side} (${path})`).join(' and ');
      return `${root}${from}: combines ${sideTexts}; only ${introducers.join(', ')} may`;
    });
}

function firstSegment(path: string): string {
  return path.split('/')[0] ?? path;
}

function getPackageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function isWithin(name: string, module: string): boolean {
  return module.endsWith('/') ? name.startsWith(module) : name === module || name.startsWith(`${module}/`);
}

function startsWithAny(path: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => (prefix.endsWith('/') ? path.startsWith(prefix) : path === prefix));
}
