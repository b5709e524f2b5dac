import ts from 'typescript';
import { isSuiteFile, isTestFile, type SourceFile } from './sources.ts';

export interface Promised {
  /** Undefined when the id is not a plain string: nothing could tell then which promise the test keeps. */
  id: string | undefined;
  path: string;
  line: number;
}

/** Every `verifies(...)` call of the test files and contract suites. Parsed, so a call inside a string does not count. */
export function findPromises(sources: readonly SourceFile[]): Promised[] {
  const found: Promised[] = [];
  for (const { path, text } of sources) {
    if (!isTestFile(path) && !isSuiteFile(path)) continue;
    if (!text.includes('verifies')) continue;
    const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
    const visit = (node: ts.Node): void => {
      if (
        ts.isCallExpression(node) &&
        ts.isIdentifier(node.expression) &&
        node.expression.text === 'verifies'
      ) {
        const first = node.arguments[0];
        found.push({
          id: first !== undefined && ts.isStringLiteralLike(first) ? first.text : undefined,
          path,
          line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1,
        });
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return found;
}
