import ts from 'typescript';
import type { SourceFile } from './sources.ts';

export interface ModuleFacts {
  path: string;
  /** Every module specifier: static, type-only, re-exported, dynamic and required. */
  imports: string[];
  readsEnvironment: boolean;
  hasDefaultExport: boolean;
}

/** What a module reaches for, from its syntax tree: comments and strings do not count. */
export function readModule({ path, text }: SourceFile): ModuleFacts {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false, kind);
  const facts: ModuleFacts = { path, imports: [], readsEnvironment: false, hasDefaultExport: false };

  const visit = (node: ts.Node): void => {
    const specifier = importedBy(node);
    if (specifier !== undefined && !facts.imports.includes(specifier)) facts.imports.push(specifier);
    if (namesEnvironment(node)) facts.readsEnvironment = true;
    if (isDefaultExport(node)) facts.hasDefaultExport = true;
    ts.forEachChild(node, visit);
  };
  visit(file);
  return facts;
}

function importedBy(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return literal(node.moduleSpecifier);
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? literal(node.argument.literal) : undefined;
  if (!ts.isCallExpression(node)) return undefined;
  const { expression } = node;
  const loads =
    expression.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(expression) && expression.text === 'require') ||
    (ts.isPropertyAccessExpression(expression) && expression.name.text === 'getBuiltinModule');
  return loads ? literal(node.arguments[0]) : undefined;
}

/** `process.env`, `process['env']`, `globalThis.process.env` and `const { env } = process`. */
function namesEnvironment(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === 'env' && isProcess(node.expression);
  if (ts.isElementAccessExpression(node))
    return literal(node.argumentExpression) === 'env' && isProcess(node.expression);
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name) && node.initializer)
    return (
      isProcess(node.initializer) &&
      node.name.elements.some(({ name, propertyName }) => nameOf(propertyName ?? name) === 'env')
    );
  return false;
}

function isProcess(node: ts.Node): boolean {
  if (ts.isIdentifier(node)) return node.text === 'process';
  return ts.isPropertyAccessExpression(node) && node.name.text === 'process';
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return (
    ts.canHaveModifiers(node) &&
    (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)
  );
}

function literal(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;
}

function nameOf(node: ts.Node): string | undefined {
  return ts.isIdentifier(node) ? node.text : literal(node);
}
