export function WorkflowView({ workflowName }: { readonly workflowName: string }) {
  return <h1>{workflowName}</h1>;
}
