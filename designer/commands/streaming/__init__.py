"""Commands on data of any length: reports drawn block by block, of which a run can go on, and streams in windows."""
