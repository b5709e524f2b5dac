import {
  createFinding,
  parseToolPattern,
  type Finding,
  type Path,
  type ToolApproval,
} from '@behalf/contracts';

interface ApprovalReport {
  errors: Finding[];
  warnings: Finding[];
}

const listNames = ['allow', 'deny', 'ask'] as const;
const PATTERN_HINT = 'write mcp:<server>:<tool> or mcp:<server>';

/** A rule that is written down and does nothing is told; one that cannot be read stops the load. */
export function checkToolApproval(approval: ToolApproval | undefined, path: Path): ApprovalReport {
  const report: ApprovalReport = { errors: [], warnings: [] };
  if (!approval) return report;
  checkLists(approval, path, report);
  for (const [role, rules] of Object.entries(approval.roles ?? {})) {
    checkLists(rules, [...path, 'roles', role], report);
  }
  // They can only forbid: to leave them out would allow what they forbid.
  if ((approval.hooks ?? []).length > 0) {
    const message = 'policy modules are not supported';
    report.errors.push(createFinding([...path, 'hooks'], 'unsupported', message, 'use deny and ask'));
  }
  return report;
}

type Lists = { [K in (typeof listNames)[number]]?: readonly string[] | undefined };

function checkLists(rules: Lists, path: Path, { errors, warnings }: ApprovalReport): void {
  for (const list of listNames) {
    for (const [index, text] of (rules[list] ?? []).entries()) {
      const pattern = parseToolPattern(text);
      const itemPath = [...path, list, index];
      if (pattern.kind === 'malformed')
        errors.push(createFinding(itemPath, 'tool_pattern', pattern.problem, PATTERN_HINT));
      if (pattern.kind === 'other') {
        const message = 'has no effect: it names no tool of an MCP server';
        warnings.push(createFinding(itemPath, 'tool_pattern_ignored', message, PATTERN_HINT));
      }
    }
  }
}
