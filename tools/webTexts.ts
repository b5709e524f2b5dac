import ts from 'typescript';
import type { SourceFile } from './sources.ts';

/** Attributes whose value users see or hear. */
const TEXT_ATTRIBUTES = new Set([
  'confirm',
  'hint',
  'lead',
  'aria-label',
  'aria-description',
  'aria-roledescription',
  'alt',
  'label',
  'placeholder',
  'title',
]);

/** Finds user-visible texts in a component that are not in a string table. */
export function findTexts({ path, text }: SourceFile): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: string[] = [];
  const report = (node: ts.Node, words: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push(`${path}:${line + 1}  ${words.trim()}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node) && hasWords(node.text)) report(node, node.text);
    if (ts.isJsxExpression(node) && node.expression && !ts.isJsxAttribute(node.parent)) {
      for (const literal of collectLiterals(node.expression))
        if (hasWords(literal.text)) report(literal, literal.text);
    }
    if (ts.isJsxAttribute(node) && TEXT_ATTRIBUTES.has(node.name.getText(source)) && node.initializer) {
      for (const literal of collectLiterals(node.initializer))
        if (hasWords(literal.text)) report(literal, literal.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Finds sentences in a module, except in messages for developers. */
export function findSentences({ path, text }: SourceFile): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isNewExpression(node) && node.expression.getText(source).endsWith('Error')) return;
    if (ts.isTypeNode(node)) return;
    for (const { text: words, pos } of ownLiterals(node)) {
      if (!hasSentence(words)) continue;
      found.push(`${path}:${source.getLineAndCharacterOfPosition(pos).line + 1}  ${words.trim()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Splits a template into its literal parts with their positions. */
function ownLiterals(node: ts.Node): readonly Literal[] {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node];
  if (!ts.isTemplateExpression(node)) return [];
  return [node.head, ...node.templateSpans.map(({ literal }) => literal)];
}

type Literal =
  ts.StringLiteral | ts.NoSubstitutionTemplateLiteral | ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail;

/**
 * The texts that an expression may display: both branches of a condition and the parts of a template, but not
 * function arguments.
 */
function collectLiterals(node: ts.Node): Literal[] {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node];
  if (ts.isTemplateExpression(node)) {
    return [
      node.head,
      ...node.templateSpans.flatMap((span) => [...collectLiterals(span.expression), span.literal]),
    ];
  }
  if (ts.isJsxExpression(node)) return node.expression ? collectLiterals(node.expression) : [];
  if (ts.isParenthesizedExpression(node)) return collectLiterals(node.expression);
  if (ts.isConditionalExpression(node))
    return [...collectLiterals(node.whenTrue), ...collectLiterals(node.whenFalse)];
  if (ts.isBinaryExpression(node)) {
    const isChoice = [
      ts.SyntaxKind.QuestionQuestionToken,
      ts.SyntaxKind.BarBarToken,
      ts.SyntaxKind.PlusToken,
    ].includes(node.operatorToken.kind);
    const isGuard = node.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken;
    return [
      ...(isChoice ? collectLiterals(node.left) : []),
      ...(isChoice || isGuard ? collectLiterals(node.right) : []),
    ];
  }
  return [];
}

/** At least two words, the first of two or more letters. */
function hasSentence(text: string): boolean {
  return /\p{L}{2} \p{L}{2}/u.test(text);
}

/** Two letters in a row. Symbols and single letters need no translation. */
function hasWords(text: string): boolean {
  return /\p{L}{2}/u.test(text);
}
